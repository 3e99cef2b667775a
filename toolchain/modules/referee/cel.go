package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/kubernetes/pkg/features"
)

// A selectorRequest is an expression and, to evaluate it, a device of a ResourceSlice and its driver.
type selectorRequest struct {
	Expression string          `json:"expression"`
	Device     json.RawMessage `json:"device"`
	Driver     string          `json:"driver"`
}

// A compilation is what the API server says of a selector; Cost is nothing where it does not compile.
type compilation struct {
	Error *string `json:"error"`
	Kind  string  `json:"kind,omitempty"` // invalid, required, forbidden or internal, as field errors have it
	Cost  *uint64 `json:"cost,omitempty"`
}

func celFeatures() cel.Features {
	return cel.Features{
		EnableConsumableCapacity: utilfeature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity),
		EnableListTypeAttributes: utilfeature.DefaultFeatureGate.Enabled(features.DRAListTypeAttributes),
	}
}

// compile checks a selector as a new object's: with the environment of the release before, and with its cost.
func compile(asked selectorRequest) compilation {
	if len(asked.Expression) > resourceapi.CELSelectorExpressionMaxLength {
		return refused(fmt.Sprintf("may not be more than %d bytes", resourceapi.CELSelectorExpressionMaxLength), "invalid")
	}
	environmentType := environment.NewExpressions
	compiled := cel.GetCompiler(celFeatures()).CompileCELExpression(
		asked.Expression, cel.Options{EnvType: &environmentType})
	if compiled.Error != nil {
		kind := "internal"
		var failure *apiservercel.Error
		if errors.As(compiled.Error, &failure) {
			switch failure.Type {
			case apiservercel.ErrorTypeInvalid:
				kind = "invalid"
			case apiservercel.ErrorTypeRequired:
				kind = "required"
			}
		}
		return refused(compiled.Error.Detail, kind)
	}
	if compiled.MaxCost > resourceapi.CELSelectorExpressionMaxCost {
		refusal := refused("too complex, exceeds cost limit", "forbidden")
		refusal.Cost = &compiled.MaxCost
		return refusal
	}
	return compilation{Cost: &compiled.MaxCost}
}

func refused(message, kind string) compilation {
	return compilation{Error: &message, Kind: kind}
}

// evaluate runs a selector on a device as the scheduler does: with the environment of stored expressions.
func evaluate(asked selectorRequest) any {
	var device resourceapi.Device
	if err := json.Unmarshal(asked.Device, &device); err != nil {
		return map[string]any{"usage": err.Error()}
	}
	compiled := cel.GetCompiler(celFeatures()).CompileCELExpression(
		asked.Expression, cel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return map[string]any{"error": compiled.Error.Detail, "compiles": false}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), cel.Device{
		Driver:                   asked.Driver,
		AllowMultipleAllocations: device.AllowMultipleAllocations,
		Attributes:               device.Attributes,
		Capacity:                 device.Capacity,
	})
	if err != nil {
		return map[string]any{"error": cel.EnhanceRuntimeError(err).Error(), "compiles": true}
	}
	return map[string]any{"result": matches, "cost": details.ActualCost()}
}
