// Kueue without a cluster to live in: its queues, its scheduler and what it does with Jobs, as one process.
//
// Kueue's own command wants certificates in /etc and webhooks that the API server reaches by a Service. Here is
// neither. So this puts its packages together without: a Job that is to be queued says `suspend: true` itself.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuealpha "sigs.k8s.io/kueue/apis/kueue/v1alpha1"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/metrics"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/kubeversion"
)

// version is stamped at the build.
var version = "unknown"

//go:embed *.yaml
var crds embed.FS

// noWebhooks takes the webhooks that Kueue's packages register, and serves none.
type noWebhooks struct{}

func (noWebhooks) NeedLeaderElection() bool        { return false }
func (noWebhooks) Register(string, http.Handler)   {}
func (noWebhooks) WebhookMux() *http.ServeMux      { return http.NewServeMux() }
func (noWebhooks) StartedChecker() healthz.Checker { return healthz.Ping }
func (noWebhooks) Start(ctx context.Context) error { <-ctx.Done(); return nil }

var _ webhook.Server = noWebhooks{}

func main() {
	resource := flag.String("resource", "gpus", "what queues call the devices")
	class := flag.String("device-class", "gpu.nvidia.com", "the DeviceClass of those devices")
	printVersion := flag.Bool("version", false, "print the version and end")
	flag.Parse()
	if *printVersion {
		fmt.Println("kueue", version)
		return
	}
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), *resource, *class); err != nil {
		ctrl.Log.Error(err, "Kueue ended")
		os.Exit(1)
	}
}

func run(ctx context.Context, resource, class string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensions.AddToScheme, configapi.AddToScheme,
		kueue.AddToScheme, kueuev1beta1.AddToScheme, kueuealpha.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{
		"DynamicResourceAllocation": true, "TopologyAwareScheduling": false, "MultiKueue": false,
	}); err != nil {
		return err
	}
	cfg := configapi.Configuration{Integrations: &configapi.Integrations{Frameworks: []string{"batch/job"}}}
	scheme.Default(&cfg)
	if err := dra.CreateMapperFromConfiguration([]configapi.DeviceClassMapping{mapping(resource, class)}); err != nil {
		return err
	}
	kubeConfig := ctrl.GetConfigOrDie()
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(kubeConfig)
	if err != nil {
		return err
	}
	if err := install(ctx, scheme, discoveryClient); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(kubeConfig, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: noWebhooks{},
	})
	if err != nil {
		return err
	}
	cache := schdcache.New(mgr.GetClient())
	requeuer := qcache.NewRequeuer()
	if err := mgr.Add(requeuer); err != nil {
		return err
	}
	expectations := preemptexpectations.New()
	queues := qcache.NewManager(mgr.GetClient(), cache, requeuer, qcache.WithPreemptionExpectations(expectations))
	if err := indexer.Setup(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	enabled := jobframework.WithEnabledFrameworks(cfg.Integrations.Frameworks)
	if err := jobframework.SetupIndexes(ctx, mgr.GetFieldIndexer(), enabled); err != nil {
		return err
	}
	server := kubeversion.NewServerVersionFetcher(discoveryClient)
	if err := server.FetchServerVersion(); err != nil {
		return err
	}
	var customLabels *metrics.CustomLabels
	if _, err := core.SetupControllers(mgr, queues, cache, &cfg, nil, expectations, customLabels); err != nil {
		return err
	}
	if err := jobframework.SetupControllers(ctx, mgr, ctrl.Log, enabled,
		jobframework.WithManagerName(constants.KueueName), jobframework.WithKubeServerVersion(server),
		jobframework.WithCache(cache), jobframework.WithQueues(queues),
		jobframework.WithManagedJobsNamespaceSelector(labels.Everything()),
	); err != nil {
		return err
	}
	go queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	if err := mgr.Add(scheduler.New(queues, cache, mgr.GetClient(), mgr.GetEventRecorderFor(constants.AdmissionName),
		scheduler.WithPreemptionExpectations(expectations))); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// install makes Kueue's CustomResourceDefinitions where they are not there yet, and waits until they are served.
func install(ctx context.Context, scheme *runtime.Scheme, served discovery.ServerResourcesInterface) error {
	api, err := client.New(ctrl.GetConfigOrDie(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	files, err := crds.ReadDir(".")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := crds.ReadFile(file.Name())
		if err != nil {
			return err
		}
		crd := apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{}}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return err
		}
		if err := api.Create(ctx, &crd); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		established := func(ctx context.Context) (bool, error) {
			if err := api.Get(ctx, client.ObjectKeyFromObject(&crd), &crd); err != nil {
				return false, err
			}
			return helpers.IsCRDConditionTrue(&crd, apiextensions.Established) && discovered(&crd, served), nil
		}
		if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, established); err != nil {
			return fmt.Errorf("%s is not served: %w", crd.Name, err)
		}
	}
	return nil
}

// discovered tells whether all versions of a kind are in the API server's discovery, which is later than the
// condition Established says; the controllers end where they do not find them there.
func discovered(crd *apiextensions.CustomResourceDefinition, served discovery.ServerResourcesInterface) bool {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		list, err := served.ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version.Name)
		if err != nil || !slices.ContainsFunc(list.APIResources, func(one metav1.APIResource) bool {
			return one.Name == crd.Spec.Names.Plural
		}) {
			return false
		}
	}
	return true
}

func mapping(resource, class string) configapi.DeviceClassMapping {
	return configapi.DeviceClassMapping{
		Name:             corev1.ResourceName(resource),
		DeviceClassNames: []corev1.ResourceName{corev1.ResourceName(class)},
	}
}
