package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
)

// An admission is what a create request comes to. Without a reason the object is stored as Object says.
type admission struct {
	Reason  metav1.StatusReason  `json:"reason,omitempty"`
	Errors  []string             `json:"errors"`
	Message string               `json:"message,omitempty"` // all of it, as kubectl shows it
	Causes  []metav1.StatusCause `json:"causes,omitempty"`
	Object  runtime.Object       `json:"object,omitempty"`
}

// A namespaceClient knows one namespace, whatever its name, for the check of admin access.
type namespaceClient struct {
	typedcorev1.NamespaceInterface
	labels map[string]string
}

func (c namespaceClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: c.labels}}, nil
}

// strategyOf returns the create strategy of a kind that a 1.37 API server serves by default (the beta versions of
// resource.k8s.io are off), or nil.
func strategyOf(kind schema.GroupVersionKind, labels map[string]string) rest.RESTCreateStrategy {
	namespaces := namespaceClient{labels: labels}
	switch kind.GroupVersion().String() + " " + kind.Kind {
	case "resource.k8s.io/v1 ResourceClaim":
		return resourceclaim.NewStrategy(namespaces, nil)
	case "resource.k8s.io/v1 ResourceClaimTemplate":
		return resourceclaimtemplate.NewStrategy(namespaces)
	case "resource.k8s.io/v1 DeviceClass":
		return deviceclass.Strategy
	case "resource.k8s.io/v1 ResourceSlice":
		return resourceslice.Strategy
	case "resource.k8s.io/v1 DeviceTaintRule":
		return devicetaintrule.Strategy
	case "v1 Pod":
		return pod.Strategy
	case "v1 Node":
		return node.Strategy
	case "v1 Namespace":
		return namespace.Strategy
	case "apps/v1 Deployment":
		return deployment.Strategy
	case "apps/v1 StatefulSet":
		return statefulset.Strategy
	case "apps/v1 DaemonSet":
		return daemonset.Strategy
	case "apps/v1 ReplicaSet":
		return replicaset.Strategy
	case "batch/v1 Job":
		return job.Strategy
	case "batch/v1 CronJob":
		return cronjob.Strategy
	default:
		return nil
	}
}

// admit does what the API server's create handler and store do, up to etcd and without admission plugins.
func admit(document []byte, namespaceLabels map[string]string) admission {
	stored, err := create(document, namespaceLabels)
	if err == nil {
		return admission{Errors: []string{}, Object: stored}
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return admission{Reason: metav1.StatusReasonUnknown, Errors: []string{err.Error()}, Message: err.Error()}
	}
	refusal := admission{Reason: status.ErrStatus.Reason, Message: status.ErrStatus.Message}
	if details := status.ErrStatus.Details; details != nil {
		refusal.Causes = details.Causes
	}
	for _, cause := range refusal.Causes {
		refusal.Errors = append(refusal.Errors, cause.Field+": "+cause.Message)
	}
	if len(refusal.Errors) == 0 {
		refusal.Errors = []string{refusal.Message}
	}
	return refusal
}

func create(document []byte, namespaceLabels map[string]string) (runtime.Object, error) {
	var typed metav1.TypeMeta
	if err := json.Unmarshal(document, &typed); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	kind := typed.GroupVersionKind()
	strategy := strategyOf(kind, namespaceLabels)
	if strategy == nil {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	object, err := decode(document, kind)
	if err != nil {
		return nil, err
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	rest.WipeObjectMetaSystemFields(metadata)
	requestNamespace := metav1.NamespaceNone
	if strategy.NamespaceScoped() {
		if requestNamespace = metadata.GetNamespace(); requestNamespace == "" {
			requestNamespace = metav1.NamespaceDefault
		}
	}
	rest.FillObjectMetaSystemFields(metadata)
	if metadata.GetGenerateName() != "" && metadata.GetName() == "" {
		metadata.SetName(strategy.GenerateName(metadata.GetGenerateName()))
	}
	ctx := genericrequest.WithNamespace(context.Background(), requestNamespace)
	ctx = genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		APIGroup: kind.Group, APIVersion: kind.Version, Namespace: requestNamespace, Verb: "create",
	})
	if err := rest.BeforeCreate(strategy, ctx, object); err != nil {
		return nil, err
	}
	stored, err := legacyscheme.Scheme.ConvertToVersion(object, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	stored.GetObjectKind().SetGroupVersionKind(kind)
	return stored, nil
}

// decode reads a document strictly, sets its defaults, and converts it to the version that is validated.
func decode(document []byte, kind schema.GroupVersionKind) (runtime.Object, error) {
	serializers, ok := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return nil, errors.New("there is no JSON serializer")
	}
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	decoder := legacyscheme.Codecs.DecoderToVersion(serializers.StrictSerializer, hub)
	object, _, err := decoder.Decode(document, nil, nil)
	if err != nil { // in the words of the create handler
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, kind.Kind, err))
	}
	return object, nil
}
