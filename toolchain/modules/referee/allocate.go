package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

const filterTimeout = 10 * time.Second // the scheduler's default

// An allocationRequest is a cluster and the claims of one pod.
type allocationRequest struct {
	Nodes      []*corev1.Node    `json:"nodes"`
	Slices     []json.RawMessage `json:"slices"`
	Classes    []json.RawMessage `json:"classes"`
	TaintRules []json.RawMessage `json:"taintRules"`
	Claims     []json.RawMessage `json:"claims"`
	// Claims that hold devices already, with their status; they are taken as they are.
	Allocated []*resourceapi.ResourceClaim `json:"allocated"`
}

// An outcome is what the pod meets on one node (or, where Message comes from before any node, on all of them).
type outcome struct {
	Verdict string                                   `json:"verdict"` // allocated, pending or error
	Message string                                   `json:"message,omitempty"`
	Claims  map[string]*resourceapi.AllocationResult `json:"claims,omitempty"`
}

// allocate asks the scheduler's own plugin, node by node. Objects that the API server refuses come back instead.
func allocate(asked allocationRequest) any {
	cluster, refusals := newCluster(asked)
	if len(refusals) > 0 {
		return map[string]any{"refused": refusals}
	}
	plugin, err := newPlugin(cluster)
	if err != nil {
		return map[string]any{"usage": err.Error()}
	}
	pod := consumer(cluster.unallocated)
	outcomes := map[string]outcome{}
	for _, node := range asked.Nodes {
		outcomes[node.Name] = tryNode(plugin, cluster, pod, node)
	}
	return map[string]any{"nodes": outcomes, "verdict": verdict(outcomes)}
}

// verdict sums the nodes up as a scheduling cycle does: an error on any node fails the pod.
func verdict(outcomes map[string]outcome) string {
	sum := "pending"
	for _, one := range outcomes {
		if one.Verdict == "error" {
			return "error"
		}
		if one.Verdict == "allocated" {
			sum = "allocated"
		}
	}
	return sum
}

// A handle is the part of the scheduler that the plugin talks to.
type handle struct {
	fwk.Handle
	cluster   *cluster
	informers informers.SharedInformerFactory
}

func (h handle) ClientSet() kubernetes.Interface                        { return nil }
func (h handle) ProfileName() string                                    { return corev1.DefaultSchedulerName }
func (h handle) SharedDRAManager() fwk.SharedDRAManager                 { return h.cluster }
func (h handle) SharedInformerFactory() informers.SharedInformerFactory { return h.informers }

func newPlugin(cluster *cluster) (*dynamicresources.DynamicResources, error) {
	arguments := &config.DynamicResourcesArgs{FilterTimeout: &metav1.Duration{Duration: filterTimeout}}
	scheduler := handle{cluster: cluster, informers: informers.NewSharedInformerFactory(nil, 0)}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	plugin, err := dynamicresources.New(context.Background(), arguments, scheduler, gates)
	if err != nil {
		return nil, err
	}
	return plugin.(*dynamicresources.DynamicResources), nil
}

// consumer returns a pod that uses all the claims.
func consumer(claims []*resourceapi.ResourceClaim) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "consumer", UID: types.UID("consumer")}}
	for i, claim := range claims {
		pod.Namespace = claim.Namespace
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{
			Name: fmt.Sprintf("claim-%d", i), ResourceClaimName: &claim.Name,
		})
	}
	return pod
}

func tryNode(plugin *dynamicresources.DynamicResources, cluster *cluster, pod *corev1.Pod, node *corev1.Node) outcome {
	ctx := context.Background()
	state := framework.NewCycleState()
	if _, status := plugin.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		if status.IsSkip() {
			return outcome{Verdict: "allocated"}
		}
		return outcome{Verdict: "error", Message: status.Message()}
	}
	info := framework.NewNodeInfo()
	info.SetNode(node)
	if status := plugin.Filter(ctx, state, pod, info); !status.IsSuccess() {
		if status.Code() == fwk.Error {
			return outcome{Verdict: "error", Message: status.Message()}
		}
		return outcome{Verdict: "pending", Message: status.Message()}
	}
	if status := plugin.Reserve(ctx, state, pod, node.Name); !status.IsSuccess() {
		return outcome{Verdict: "error", Message: status.Message()}
	}
	return outcome{Verdict: "allocated", Claims: cluster.takeReserved()}
}
