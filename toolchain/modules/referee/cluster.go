package main

import (
	"encoding/json"

	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"
)

// A cluster is the scheduler's view of all that concerns claims, at rest: nothing changes but what is reserved.
type cluster struct {
	slices      []*resourceapi.ResourceSlice
	classes     map[string]*resourceapi.DeviceClass
	unallocated []*resourceapi.ResourceClaim // of the pod
	allocated   []*resourceapi.ResourceClaim // of others
	reserved    map[string]*resourceapi.AllocationResult

	fwk.ResourceClaimTracker // what the plugin does not call before PreBind
}

// newCluster takes in what the API server would let in, as it would store it; else it returns the refusals.
func newCluster(asked allocationRequest) (*cluster, []admission) {
	made := &cluster{
		classes:   map[string]*resourceapi.DeviceClass{},
		allocated: asked.Allocated,
		reserved:  map[string]*resourceapi.AllocationResult{},
	}
	var rules []*resourceapi.DeviceTaintRule
	var refusals []admission
	for _, documents := range [][]json.RawMessage{asked.Slices, asked.Classes, asked.TaintRules, asked.Claims} {
		for _, document := range documents {
			// Admin access is for the caller to rule out: here each namespace grants it.
			admitted := admit(document, map[string]string{resourceapi.DRAAdminNamespaceLabelKey: "true"})
			switch object := admitted.Object.(type) {
			case nil:
				refusals = append(refusals, admitted)
			case *resourceapi.ResourceSlice:
				made.slices = append(made.slices, object)
			case *resourceapi.DeviceClass:
				made.classes[object.Name] = object
			case *resourceapi.DeviceTaintRule:
				rules = append(rules, object)
			case *resourceapi.ResourceClaim:
				object.UID = types.UID(object.Namespace + "/" + object.Name)
				made.unallocated = append(made.unallocated, object)
			}
		}
	}
	for _, slice := range made.slices {
		taint(slice, rules)
	}
	return made, refusals
}

// taint adds the taints of rules to the devices that they select. The scheduler's tracker of slices does it on
// informer events and cannot be asked for one slice; this is what its applyPatches comes to.
func taint(slice *resourceapi.ResourceSlice, rules []*resourceapi.DeviceTaintRule) {
	for _, rule := range rules {
		selector := rule.Spec.DeviceSelector
		if selector == nil || // which selects nothing
			ptr.Deref(selector.Driver, slice.Spec.Driver) != slice.Spec.Driver ||
			ptr.Deref(selector.Pool, slice.Spec.Pool.Name) != slice.Spec.Pool.Name {
			continue
		}
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			if ptr.Deref(selector.Device, device.Name) == device.Name {
				device.Taints = append(device.Taints, rule.Spec.Taint)
			}
		}
	}
}

func (c *cluster) ResourceClaims() fwk.ResourceClaimTracker { return c }
func (c *cluster) ResourceSlices() fwk.ResourceSliceLister  { return sliceLister{c} }
func (c *cluster) DeviceClasses() fwk.DeviceClassLister     { return classLister{c} }

func (c *cluster) DeviceClassResolver() fwk.DeviceClassResolver {
	resolver := extendedresourcecache.NewExtendedResourceCache(klog.Background())
	for _, class := range c.classes {
		resolver.OnAdd(class, true)
	}
	return resolver
}

func (c *cluster) Get(namespace, name string) (*resourceapi.ResourceClaim, error) {
	for _, claim := range c.unallocated {
		if claim.Namespace == namespace && claim.Name == name {
			return claim, nil
		}
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("resourceclaims"), name)
}

func (c *cluster) GetPendingAllocation(types.UID) *resourceapi.AllocationResult { return nil }

func (c *cluster) SignalClaimPendingAllocation(_ types.UID, claim *resourceapi.ResourceClaim) error {
	c.reserved[claim.Name] = claim.Status.Allocation
	return nil
}

// takeReserved returns what the plugin reserved since it was last called.
func (c *cluster) takeReserved() map[string]*resourceapi.AllocationResult {
	taken := c.reserved
	c.reserved = map[string]*resourceapi.AllocationResult{}
	return taken
}

// GatherAllocatedState sums up the devices in use. Admin access takes none, and a share leaves the rest.
func (c *cluster) GatherAllocatedState() (*structured.AllocatedState, error) {
	state := &structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range c.allocated {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			device := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			switch {
			case ptr.Deref(result.AdminAccess, false):
			case result.ShareID == nil:
				state.AllocatedDevices.Insert(device)
			default:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device, result.ShareID))
				if result.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device, result.ConsumedCapacity))
				}
			}
		}
	}
	return state, nil
}

type sliceLister struct{ cluster *cluster }

func (l sliceLister) ListWithDeviceTaintRules() ([]*resourceapi.ResourceSlice, error) {
	return l.cluster.slices, nil
}

type classLister struct{ cluster *cluster }

func (l classLister) List() ([]*resourceapi.DeviceClass, error) {
	listed := make([]*resourceapi.DeviceClass, 0, len(l.cluster.classes))
	for _, class := range l.cluster.classes {
		listed = append(listed, class)
	}
	return listed, nil
}

func (l classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, found := l.cluster.classes[name]; found {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclasses"), name)
}
