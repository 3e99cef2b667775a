// The referee: what the control plane's own code says of objects, selectors and claims.
//
// One JSON request a line on stdin, one JSON answer a line on stdout; see README.md. It holds no
// rules of its own: admission is the API server's registry strategies, CEL is its compiler, and scheduling is
// the scheduler's DynamicResources plugin with the gates that are on by default. For tests only.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

// A request holds one operation and the arguments of all of them.
type request struct {
	Op              string            `json:"op"`
	Document        json.RawMessage   `json:"document"`
	NamespaceLabels map[string]string `json:"namespaceLabels"`
	selectorRequest
	allocationRequest
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		if err := encoder.Encode(answer(line)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answers.Flush()
	}
}

// answer never panics: a case that makes Kubernetes panic is an answer too, and the next case has to be heard.
func answer(line []byte) (reply any) {
	defer func() {
		if reason := recover(); reason != nil {
			reply = map[string]any{"panic": fmt.Sprint(reason), "stack": string(debug.Stack())}
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return map[string]any{"usage": err.Error()}
	}
	switch asked.Op {
	case "admit":
		return admit(asked.Document, asked.NamespaceLabels)
	case "cel":
		return compile(asked.selectorRequest)
	case "evaluate":
		return evaluate(asked.selectorRequest)
	case "allocate":
		return allocate(asked.allocationRequest)
	default:
		return map[string]any{"usage": fmt.Sprintf("op is %q; it must be admit, cel, evaluate or allocate", asked.Op)}
	}
}
