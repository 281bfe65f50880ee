/**
 * The roles and bindings that every new cluster has. scripts/roles.ts compares them with those of
 * each release. read-policy.ts parses them, and adds what all of them have in common.
 *
 *    ClusterRole name, Role namespace/name   begins a role, which the indented lines describe
 *      label key=value                       a label of the role
 *      selects key=value                     a label that its aggregation rule selects
 *      verbs | groups | resources | names    a rule; - is the core group
 *      verbs | paths                         a rule for paths
 *    ClusterRoleBinding name = Kind/role: Kind/subject …
 *                                            a binding; ServiceAccount/namespace/name is an account
 *    … ? Gate,!Other,34-36                   the line applies only if Gate is on, Other is off, and
 *                                            the release is 1.34 to 1.36; on the first line of an
 *                                            object, for the whole object
 */
export const bootstrapPolicy = `
ClusterRole admin
  selects rbac.authorization.k8s.io/aggregate-to-admin=true
ClusterRole cluster-admin
  * | * | *
  * | *
ClusterRole edit
  label rbac.authorization.k8s.io/aggregate-to-admin=true
  selects rbac.authorization.k8s.io/aggregate-to-edit=true
ClusterRole system:aggregate-to-admin
  label rbac.authorization.k8s.io/aggregate-to-admin=true
  create | authorization.k8s.io | localsubjectaccessreviews
  create,delete,deletecollection,get,list,patch,update,watch | rbac.authorization.k8s.io | rolebindings,roles
ClusterRole system:aggregate-to-edit
  label rbac.authorization.k8s.io/aggregate-to-edit=true
  get,list,watch | - | pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate | - | serviceaccounts
  create,delete,deletecollection,patch,update | - | pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create | - | pods/eviction
  create,delete,deletecollection,patch,update | - | configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy ? -34
  create,delete,deletecollection,patch,update | - | configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy ? 35-
  create | - | serviceaccounts/token
  create,delete,deletecollection,patch,update | -,events.k8s.io | events ? 35-
  create,delete,deletecollection,patch,update | apps | daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
  create,delete,deletecollection,patch,update | autoscaling | horizontalpodautoscalers
  create,delete,deletecollection,patch,update | batch | cronjobs,jobs
  create,delete,deletecollection,patch,update | extensions | daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
  create,delete,deletecollection,patch,update | policy | poddisruptionbudgets
  create,delete,deletecollection,patch,update | networking.k8s.io | ingresses,networkpolicies
  create,delete,deletecollection,get,list,patch,update,watch | coordination.k8s.io | leases
  create,delete,deletecollection,patch,update | resource.k8s.io | resourceclaims,resourceclaimtemplates ? DynamicResourceAllocation
  create,delete,deletecollection,patch,update | scheduling.k8s.io | podgroups,workloads ? 36-,GenericWorkload
  create,delete,deletecollection,patch,update | scheduling.k8s.io | compositepodgroups ? CompositePodGroup
  create,delete,deletecollection,patch,update | lifecycle.k8s.io | evictionrequests ? EvictionRequestAPI
ClusterRole system:aggregate-to-view
  label rbac.authorization.k8s.io/aggregate-to-view=true
  get,list,watch | - | configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
  get,list,watch | - | bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status ? -34
  get,list,watch | - | bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status ? 35-
  get,list,watch | - | namespaces
  get,list,watch | -,events.k8s.io | events ? 35-
  get,list,watch | discovery.k8s.io | endpointslices
  get,list,watch | apps | controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
  get,list,watch | autoscaling | horizontalpodautoscalers,horizontalpodautoscalers/status
  get,list,watch | batch | cronjobs,cronjobs/status,jobs,jobs/status
  get,list,watch | extensions | daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
  get,list,watch | policy | poddisruptionbudgets,poddisruptionbudgets/status
  get,list,watch | networking.k8s.io | ingresses,ingresses/status,networkpolicies
  get,list,watch | resource.k8s.io | resourceclaims,resourceclaims/status,resourceclaimtemplates ? DynamicResourceAllocation
  get,list,watch | scheduling.k8s.io | podgroups,podgroups/status,workloads ? 36-,GenericWorkload
  get,list,watch | scheduling.k8s.io | compositepodgroups,compositepodgroups/status ? CompositePodGroup
  get,list,watch | lifecycle.k8s.io | evictionrequests,evictions ? EvictionRequestAPI
ClusterRole system:auth-delegator
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | subjectaccessreviews
ClusterRole system:basic-user
  create | authorization.k8s.io | selfsubjectaccessreviews,selfsubjectrulesreviews
  create | authentication.k8s.io | selfsubjectreviews
ClusterRole system:certificates.k8s.io:certificatesigningrequests:nodeclient
  create | certificates.k8s.io | certificatesigningrequests/nodeclient
ClusterRole system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  create | certificates.k8s.io | certificatesigningrequests/selfnodeclient
ClusterRole system:certificates.k8s.io:kube-apiserver-client-approver
  approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client
ClusterRole system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client-kubelet
ClusterRole system:certificates.k8s.io:kubelet-serving-approver
  approve | certificates.k8s.io | signers | kubernetes.io/kubelet-serving
ClusterRole system:certificates.k8s.io:legacy-unknown-approver
  approve | certificates.k8s.io | signers | kubernetes.io/legacy-unknown
ClusterRole system:controller:attachdetach-controller
  list,watch | - | persistentvolumeclaims,persistentvolumes
  get,list,watch | - | nodes
  patch,update | - | nodes/status
  list,watch | - | pods
  create,patch,update | -,events.k8s.io | events
  create,delete,get,list,watch | storage.k8s.io | volumeattachments
  get,list,watch | storage.k8s.io | csidrivers
  get,list,watch | storage.k8s.io | csinodes
ClusterRole system:controller:certificate-controller
  delete,get,list,watch | certificates.k8s.io | certificatesigningrequests
  update | certificates.k8s.io | certificatesigningrequests/approval,certificatesigningrequests/status
  approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client-kubelet
  sign | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create | authorization.k8s.io | subjectaccessreviews
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:clusterrole-aggregation-controller
  escalate,get,list,patch,update,watch | rbac.authorization.k8s.io | clusterroles
ClusterRole system:controller:cronjob-controller
  get,list,update,watch | batch | cronjobs
  create,delete,get,list,patch,update,watch | batch | jobs
  update | batch | cronjobs/status
  update | batch | cronjobs/finalizers
  delete,list,watch | - | pods
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:daemon-set-controller
  get,list,watch | apps,extensions | daemonsets
  update | apps,extensions | daemonsets/status
  update | apps,extensions | daemonsets/finalizers
  list,watch | - | nodes
  create,delete,list,patch,watch | - | pods
  create | - | pods/binding
  create,delete,get,list,patch,update,watch | apps | controllerrevisions
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:deployment-controller
  get,list,update,watch | apps,extensions | deployments
  update | apps,extensions | deployments/status
  update | apps,extensions | deployments/finalizers
  create,delete,get,list,patch,update,watch | apps,extensions | replicasets
  get,list,update,watch | - | pods
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:disruption-controller
  get,list,watch | apps,extensions | deployments
  get,list,watch | apps,extensions | replicasets
  get,list,watch | - | replicationcontrollers
  get,list,watch | policy | poddisruptionbudgets
  get,list,watch | apps | statefulsets
  update | policy | poddisruptionbudgets/status
  patch,update | - | pods/status
  get | * | */scale
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:endpoint-controller
  get,list,watch | - | pods,services
  create,delete,get,list,update,watch | - | endpoints
  create | - | endpoints/restricted
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:endpointslice-controller
  get,list,watch | - | nodes,pods,services
  update | - | services/finalizers
  create,delete,get,list,update,watch | discovery.k8s.io | endpointslices
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:endpointslicemirroring-controller
  get,list,watch | - | endpoints,services
  update | - | services/finalizers
  update | - | endpoints/finalizers
  create,delete,get,list,update,watch | discovery.k8s.io | endpointslices
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:ephemeral-volume-controller
  get,list,watch | - | pods
  update | - | pods/finalizers
  create,get,list,watch | - | persistentvolumeclaims
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:expand-controller
  get,list,patch,update,watch | - | persistentvolumes
  patch,update | - | persistentvolumeclaims/status
  get,list,watch | - | persistentvolumeclaims
  create,patch,update | -,events.k8s.io | events
  get | - | services ? -35
ClusterRole system:controller:generic-garbage-collector
  delete,get,list,patch,update,watch | * | *
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:horizontal-pod-autoscaler
  get,list,watch | autoscaling | horizontalpodautoscalers
  update | autoscaling | horizontalpodautoscalers/status
  get,update | * | */scale
  list,watch | - | pods
  list,watch | metrics.k8s.io | pods
  get,list,watch | custom.metrics.k8s.io | *
  get,list,watch | external.metrics.k8s.io | *
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:job-controller
  get,list,patch,update,watch | batch | jobs
  update | batch | jobs/status
  update | batch | jobs/finalizers
  create,delete,list,patch,watch | - | pods
  create,patch,update | -,events.k8s.io | events
  create,get,list,watch | scheduling.k8s.io | podgroups,workloads ? 36-36,WorkloadWithJob
  create,get,list,patch,update,watch | scheduling.k8s.io | podgroups,workloads ? 37-,WorkloadWithJob
ClusterRole system:controller:legacy-service-account-token-cleaner
  get | - | configmaps | kube-apiserver-legacy-service-account-token-tracking
  delete,patch | - | secrets
ClusterRole system:controller:namespace-controller
  delete,get,list,watch | - | namespaces
  update | - | namespaces/finalize,namespaces/status
  delete,deletecollection,get,list,watch | * | *
ClusterRole system:controller:node-controller
  delete,get,list,patch,update,watch | - | nodes
  patch,update | - | nodes/status
  patch,update | - | pods/status
  delete,get,list,watch | - | pods
  get,list,watch | coordination.k8s.io | leases ? 37-
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:persistent-volume-binder
  create,delete,get,list,update,watch | - | persistentvolumes
  update | - | persistentvolumes/status
  get,list,update,watch | - | persistentvolumeclaims
  update | - | persistentvolumeclaims/status
  create,delete,get,list,watch | - | pods
  get,list,watch | storage.k8s.io | storageclasses
  list,watch | - | nodes
  create,patch,update | -,events.k8s.io | events
  watch | - | events
  get | - | services ? -35
ClusterRole system:controller:pod-garbage-collector
  delete,list,watch | - | pods
  get,list,watch | - | nodes
  patch | - | pods/status
ClusterRole system:controller:pv-protection-controller
  get,list,update,watch | - | persistentvolumes
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:pvc-protection-controller
  get,list,update,watch | - | persistentvolumeclaims
  update | - | persistentvolumeclaims/status ? 36-
  get,list,watch | - | pods
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:replicaset-controller
  get,list,update,watch | apps,extensions | replicasets
  update | apps,extensions | replicasets/status
  update | apps,extensions | replicasets/finalizers
  create,delete,list,patch,watch | - | pods
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:replication-controller
  get,list,update,watch | - | replicationcontrollers
  update | - | replicationcontrollers/status
  update | - | replicationcontrollers/finalizers
  create,delete,list,patch,watch | - | pods
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:resourcequota-controller
  list,watch | * | *
  update | - | resourcequotas/status
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:root-ca-cert-publisher
  create,update | - | configmaps
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:route-controller
  list,watch | - | nodes
  patch | - | nodes/status
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:selinux-warning-controller ? SELinuxChangePolicy
  create,patch,update | -,events.k8s.io | events ? SELinuxChangePolicy
  get,list,watch | - | persistentvolumes ? SELinuxChangePolicy
  get,list,watch | - | persistentvolumeclaims ? SELinuxChangePolicy
  get,list,watch | - | pods ? SELinuxChangePolicy
  get,list,watch | storage.k8s.io | csidrivers ? SELinuxChangePolicy
ClusterRole system:controller:service-account-controller
  create | - | serviceaccounts
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:service-cidrs-controller ? MultiCIDRServiceAllocator
  get,list,patch,update,watch | networking.k8s.io | servicecidrs ? MultiCIDRServiceAllocator
  patch,update | networking.k8s.io | servicecidrs/finalizers ? MultiCIDRServiceAllocator
  patch,update | networking.k8s.io | servicecidrs/status ? MultiCIDRServiceAllocator
  get,list,watch | networking.k8s.io | ipaddresses ? MultiCIDRServiceAllocator
  create,patch,update | -,events.k8s.io | events ? MultiCIDRServiceAllocator
ClusterRole system:controller:service-controller
  get,list,watch | - | services
  patch,update | - | services/status
  list,watch | - | nodes
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:statefulset-controller
  list,watch | - | pods
  get,list,watch | apps | statefulsets
  update | apps | statefulsets/status
  update | apps | statefulsets/finalizers
  create,delete,get,patch,update | - | pods
  create,delete,get,list,patch,update,watch | apps | controllerrevisions
  create,get,list,watch | - | persistentvolumeclaims
  create,patch,update | -,events.k8s.io | events ? -34
  delete,update | - | persistentvolumeclaims
  update | - | pods/finalizers
  create,patch,update | -,events.k8s.io | events ? 35-
ClusterRole system:controller:ttl-after-finished-controller
  delete,get,list,watch | batch | jobs
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:ttl-controller
  list,patch,update,watch | - | nodes
  create,patch,update | -,events.k8s.io | events
ClusterRole system:controller:validatingadmissionpolicy-status-controller
  get,list,watch | admissionregistration.k8s.io | validatingadmissionpolicies
  get,patch,update | admissionregistration.k8s.io | validatingadmissionpolicies/status
  create,patch,update | -,events.k8s.io | events
ClusterRole system:discovery
  get | /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
ClusterRole system:heapster
  get,list,watch | - | events,namespaces,nodes,pods
  get,list,watch | extensions | deployments
ClusterRole system:kube-aggregator
  get,list,watch | - | endpoints,services
ClusterRole system:kube-controller-manager
  create,patch,update | -,events.k8s.io | events
  create | coordination.k8s.io | leases
  get,update | coordination.k8s.io | leases | kube-controller-manager
  create | - | secrets,serviceaccounts
  delete | - | secrets
  get | - | configmaps,namespaces,secrets,serviceaccounts
  update | - | secrets,serviceaccounts
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | subjectaccessreviews
  list,watch | * | *
  create | - | serviceaccounts/token
ClusterRole system:kube-dns
  list,watch | - | endpoints,services
ClusterRole system:kube-scheduler
  create,patch,update | -,events.k8s.io | events
  create | coordination.k8s.io | leases
  get,list,update,watch | coordination.k8s.io | leases | kube-scheduler
  create,delete,deletecollection,get,list,patch,update,watch | coordination.k8s.io | leasecandidates
  get,list,watch | - | nodes
  delete,get,list,watch | - | pods
  create | - | bindings,pods/binding
  patch,update | - | pods/status
  get,list,watch | - | replicationcontrollers,services
  get,list,watch | apps,extensions | replicasets
  get,list,watch | apps | statefulsets
  get,list,watch | policy | poddisruptionbudgets
  get,list,watch | - | persistentvolumeclaims,persistentvolumes
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | subjectaccessreviews
  get,list,watch | storage.k8s.io | csinodes
  get,list,watch | storage.k8s.io | volumeattachments
  get,list,watch | - | namespaces
  get,list,watch | storage.k8s.io | csidrivers
  get,list,watch | storage.k8s.io | csistoragecapacities
  get,list,watch | resource.k8s.io | deviceclasses ? DynamicResourceAllocation
  get,list,patch,update,watch | resource.k8s.io | resourceclaims ? DynamicResourceAllocation
  get,list,patch,update,watch | resource.k8s.io | resourceclaims/status ? DynamicResourceAllocation
  get,list,patch,update,watch | - | pods/finalizers ? -33,DynamicResourceAllocation
  update | - | pods/finalizers ? 34-,DynamicResourceAllocation
  get,list,watch | resource.k8s.io | resourceslices ? DynamicResourceAllocation
  get,list,watch | resource.k8s.io | devicetaintrules ? -33,DynamicResourceAllocation
  create,delete | resource.k8s.io | resourceclaims ? DRAExtendedResource
  get,list,watch | resource.k8s.io | devicetaintrules ? 34-34,DynamicResourceAllocation,DRADeviceTaints
  get,list,watch | resource.k8s.io | devicetaintrules ? 35-,DynamicResourceAllocation,DRADeviceTaintRules
  patch,update | resource.k8s.io | resourceclaims/binding ? DynamicResourceAllocation,DRAResourceClaimGranularStatusAuthorization
  get,list,watch | scheduling.k8s.io | workloads ? 35-35,GenericWorkload
  get,list,watch | scheduling.k8s.io | podgroups ? 36-,GenericWorkload
  patch,update | scheduling.k8s.io | podgroups/status ? 36-,GenericWorkload
  get,list,watch | scheduling.k8s.io | compositepodgroups ? CompositePodGroup
  patch,update | scheduling.k8s.io | compositepodgroups/status ? CompositePodGroup
ClusterRole system:kubelet-api-admin
  get,list,watch | - | nodes
  proxy | - | nodes
  * | - | nodes/log,nodes/metrics,nodes/proxy,nodes/stats
  * | - | nodes/configz,nodes/healthz,nodes/pods ? KubeletFineGrainedAuthz
ClusterRole system:monitoring
  get | /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* ? -35
  get | /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* ? 36-,!ComponentFlagz,!ComponentStatusz
  get | /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* ? 36-,ComponentFlagz,!ComponentStatusz
  get | /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz ? 36-,!ComponentFlagz,ComponentStatusz
  get | /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz ? 36-,ComponentFlagz,ComponentStatusz
  get | - | nodes/metrics ? 34-
  get | /flagz ? -35,ComponentFlagz
  get | /statusz ? -35,ComponentStatusz
ClusterRole system:node
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | localsubjectaccessreviews,subjectaccessreviews
  get,list,watch | - | services
  create,get,list,watch | - | nodes
  patch,update | - | nodes/status
  patch,update | - | nodes
  create,patch,update | - | events ? -34
  create,patch,update | -,events.k8s.io | events ? 35-
  get,list,watch | - | pods
  create,delete | - | pods
  patch,update | - | pods/status
  create | - | pods/eviction
  get,list,watch | - | configmaps,secrets
  get | - | persistentvolumeclaims,persistentvolumes
  get | - | endpoints
  create,get,list,watch | certificates.k8s.io | certificatesigningrequests
  create,delete,get,patch,update | coordination.k8s.io | leases
  get | storage.k8s.io | volumeattachments
  create | - | serviceaccounts/token
  get,patch,update | - | persistentvolumeclaims/status
  get,list,watch | storage.k8s.io | csidrivers
  create,delete,get,patch,update | storage.k8s.io | csinodes
  get,patch,update | storage.k8s.io | csinodes/status ? 37-,CSIVolumeHealth
  get,list,watch | node.k8s.io | runtimeclasses
  get | resource.k8s.io | resourceclaims ? DynamicResourceAllocation
  deletecollection | resource.k8s.io | resourceslices ? DynamicResourceAllocation
  get,list,watch | certificates.k8s.io | clustertrustbundles ? ClusterTrustBundle
  get | - | serviceaccounts ? KubeletServiceAccountTokenForCredentialProviders
  create,get,list,watch | certificates.k8s.io | podcertificaterequests ? PodCertificateRequest
ClusterRole system:node-bootstrapper
  create,get,list,watch | certificates.k8s.io | certificatesigningrequests
ClusterRole system:node-problem-detector
  get | - | nodes
  patch | - | nodes/status
  create,patch,update | -,events.k8s.io | events
ClusterRole system:node-proxier
  list,watch | - | endpoints,services
  get,list,watch | - | nodes
  create,patch,update | -,events.k8s.io | events
  list,watch | networking.k8s.io | servicecidrs ? MultiCIDRServiceAllocator
  list,watch | discovery.k8s.io | endpointslices
ClusterRole system:persistent-volume-provisioner
  create,delete,get,list,watch | - | persistentvolumes
  get,list,update,watch | - | persistentvolumeclaims
  get,list,watch | storage.k8s.io | storageclasses
  watch | - | events
  create,patch,update | -,events.k8s.io | events
ClusterRole system:public-info-viewer
  get | /healthz,/livez,/readyz,/version,/version/
ClusterRole system:service-account-issuer-discovery
  get | /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
ClusterRole system:volume-scheduler
  get,list,patch,update,watch | - | persistentvolumes
  get,list,watch | storage.k8s.io | storageclasses
  get,list,patch,update,watch | - | persistentvolumeclaims
ClusterRole view
  label rbac.authorization.k8s.io/aggregate-to-edit=true
  selects rbac.authorization.k8s.io/aggregate-to-view=true
ClusterRole system:controller:resource-claim-controller ? DynamicResourceAllocation
  get,list,watch | - | pods ? DynamicResourceAllocation
  update | - | pods/finalizers ? DynamicResourceAllocation
  create,delete,get,list,watch | resource.k8s.io | resourceclaims ? DynamicResourceAllocation
  patch,update | resource.k8s.io | resourceclaims,resourceclaims/status ? DynamicResourceAllocation
  patch,update | - | pods/status ? DynamicResourceAllocation
  create,patch,update | -,events.k8s.io | events ? DynamicResourceAllocation
  get,list,watch | scheduling.k8s.io | podgroups ? DynamicResourceAllocation,DRAWorkloadResourceClaims
  patch,update | scheduling.k8s.io | podgroups/status ? DynamicResourceAllocation,DRAWorkloadResourceClaims
  patch,update | resource.k8s.io | resourceclaims/binding ? DynamicResourceAllocation,DRAResourceClaimGranularStatusAuthorization
ClusterRole system:controller:device-taint-eviction-controller ? DynamicResourceAllocation,DRADeviceTaints
  delete,get,list,watch | - | pods ? DynamicResourceAllocation,DRADeviceTaints
  patch,update | - | pods/status ? DynamicResourceAllocation,DRADeviceTaints
  get,list,watch | resource.k8s.io | resourceclaims ? DynamicResourceAllocation,DRADeviceTaints
  get,list,watch | resource.k8s.io | resourceslices ? DynamicResourceAllocation,DRADeviceTaints
  get,list,watch | resource.k8s.io | deviceclasses ? DynamicResourceAllocation,DRADeviceTaints
  get,list,watch | resource.k8s.io | devicetaintrules ? -34,DynamicResourceAllocation,DRADeviceTaints
  create,patch,update | -,events.k8s.io | events ? DynamicResourceAllocation,DRADeviceTaints
  patch,update | resource.k8s.io | devicetaintrules/status ? DynamicResourceAllocation,DRADeviceTaints,DRADeviceTaintRules
  get,list,watch | resource.k8s.io | devicetaintrules ? DynamicResourceAllocation,DRADeviceTaints,DRADeviceTaintRules
ClusterRole system:controller:volumeattributesclass-protection-controller ? VolumeAttributesClass
  get,list,watch | - | persistentvolumeclaims ? VolumeAttributesClass
  get,list,watch | - | persistentvolumes ? VolumeAttributesClass
  get,list,update,watch | storage.k8s.io | volumeattributesclasses ? VolumeAttributesClass
  create,patch,update | -,events.k8s.io | events ? VolumeAttributesClass
ClusterRole system:cluster-trust-bundle-discovery ? ClusterTrustBundle
  get,list,watch | certificates.k8s.io | clustertrustbundles ? ClusterTrustBundle
ClusterRole system:controller:kube-apiserver-serving-clustertrustbundle-publisher ? ClusterTrustBundle
  attest | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-serving ? ClusterTrustBundle
  create,delete,list,update,watch | certificates.k8s.io | clustertrustbundles ? ClusterTrustBundle
  create,patch,update | -,events.k8s.io | events ? ClusterTrustBundle
ClusterRole system:controller:storage-version-migrator-controller ? StorageVersionMigrator
  create,list,patch,watch | * | * ? -34,StorageVersionMigrator
  create,list,patch | * | * ? 35-36,StorageVersionMigrator
  list,patch | * | * ? 37-,StorageVersionMigrator
  get | apiextensions.k8s.io | customresourcedefinitions ? 36-,StorageVersionMigrator
  patch | apiextensions.k8s.io | customresourcedefinitions/status ? 36-,StorageVersionMigrator
  update | storagemigration.k8s.io | storageversionmigrations/status ? StorageVersionMigrator
ClusterRole system:controller:podcertificaterequestcleaner ? PodCertificateRequest
  delete,get,list,watch | certificates.k8s.io | podcertificaterequests ? PodCertificateRequest
ClusterRole system:controller:podgroup-protection-controller ? 36-,GenericWorkload
  get,list,update,watch | scheduling.k8s.io | podgroups ? 36-,GenericWorkload
  get,list,watch | - | pods ? 36-,GenericWorkload
ClusterRole system:controller:resourcepoolstatusrequest-controller ? DRAResourcePoolStatus
  delete,get,list,watch | resource.k8s.io | resourcepoolstatusrequests ? DRAResourcePoolStatus
  patch,update | resource.k8s.io | resourcepoolstatusrequests/status ? DRAResourcePoolStatus
  get,list,watch | resource.k8s.io | resourceslices ? DRAResourcePoolStatus
  get,list,watch | resource.k8s.io | resourceclaims ? DRAResourcePoolStatus
  get,list,watch | resource.k8s.io | devicetaintrules ? 37-,DRAResourcePoolStatus
  create,patch,update | -,events.k8s.io | events ? DRAResourcePoolStatus
Role kube-public/system:controller:bootstrap-signer
  get,list,watch | - | configmaps
  update | - | configmaps | cluster-info
  create,patch,update | -,events.k8s.io | events
Role kube-system/extension-apiserver-authentication-reader
  get,list,watch | - | configmaps | extension-apiserver-authentication
Role kube-system/system::leader-locking-kube-controller-manager
  watch | - | configmaps ? -34
  get,update | - | configmaps | kube-controller-manager ? -34
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
Role kube-system/system::leader-locking-kube-scheduler
  watch | - | configmaps ? -34
  get,update | - | configmaps | kube-scheduler ? -34
  create,get,list,update,watch | coordination.k8s.io | leases
  create,get,list,update,watch | coordination.k8s.io | leasecandidates
Role kube-system/system:controller:bootstrap-signer
  get,list,watch | - | secrets
Role kube-system/system:controller:cloud-provider
  create,get,list,watch | - | configmaps
Role kube-system/system:controller:token-cleaner
  delete,get,list,watch | - | secrets
  create,patch,update | -,events.k8s.io | events
ClusterRoleBinding cluster-admin = ClusterRole/cluster-admin: Group/system:masters
ClusterRoleBinding system:basic-user = ClusterRole/system:basic-user: Group/system:authenticated
ClusterRoleBinding system:controller:attachdetach-controller = ClusterRole/system:controller:attachdetach-controller: ServiceAccount/kube-system/attachdetach-controller
ClusterRoleBinding system:controller:certificate-controller = ClusterRole/system:controller:certificate-controller: ServiceAccount/kube-system/certificate-controller
ClusterRoleBinding system:controller:clusterrole-aggregation-controller = ClusterRole/system:controller:clusterrole-aggregation-controller: ServiceAccount/kube-system/clusterrole-aggregation-controller
ClusterRoleBinding system:controller:cronjob-controller = ClusterRole/system:controller:cronjob-controller: ServiceAccount/kube-system/cronjob-controller
ClusterRoleBinding system:controller:daemon-set-controller = ClusterRole/system:controller:daemon-set-controller: ServiceAccount/kube-system/daemon-set-controller
ClusterRoleBinding system:controller:deployment-controller = ClusterRole/system:controller:deployment-controller: ServiceAccount/kube-system/deployment-controller
ClusterRoleBinding system:controller:disruption-controller = ClusterRole/system:controller:disruption-controller: ServiceAccount/kube-system/disruption-controller
ClusterRoleBinding system:controller:endpoint-controller = ClusterRole/system:controller:endpoint-controller: ServiceAccount/kube-system/endpoint-controller
ClusterRoleBinding system:controller:endpointslice-controller = ClusterRole/system:controller:endpointslice-controller: ServiceAccount/kube-system/endpointslice-controller
ClusterRoleBinding system:controller:endpointslicemirroring-controller = ClusterRole/system:controller:endpointslicemirroring-controller: ServiceAccount/kube-system/endpointslicemirroring-controller
ClusterRoleBinding system:controller:ephemeral-volume-controller = ClusterRole/system:controller:ephemeral-volume-controller: ServiceAccount/kube-system/ephemeral-volume-controller
ClusterRoleBinding system:controller:expand-controller = ClusterRole/system:controller:expand-controller: ServiceAccount/kube-system/expand-controller
ClusterRoleBinding system:controller:generic-garbage-collector = ClusterRole/system:controller:generic-garbage-collector: ServiceAccount/kube-system/generic-garbage-collector
ClusterRoleBinding system:controller:horizontal-pod-autoscaler = ClusterRole/system:controller:horizontal-pod-autoscaler: ServiceAccount/kube-system/horizontal-pod-autoscaler
ClusterRoleBinding system:controller:job-controller = ClusterRole/system:controller:job-controller: ServiceAccount/kube-system/job-controller
ClusterRoleBinding system:controller:legacy-service-account-token-cleaner = ClusterRole/system:controller:legacy-service-account-token-cleaner: ServiceAccount/kube-system/legacy-service-account-token-cleaner
ClusterRoleBinding system:controller:namespace-controller = ClusterRole/system:controller:namespace-controller: ServiceAccount/kube-system/namespace-controller
ClusterRoleBinding system:controller:node-controller = ClusterRole/system:controller:node-controller: ServiceAccount/kube-system/node-controller
ClusterRoleBinding system:controller:persistent-volume-binder = ClusterRole/system:controller:persistent-volume-binder: ServiceAccount/kube-system/persistent-volume-binder
ClusterRoleBinding system:controller:pod-garbage-collector = ClusterRole/system:controller:pod-garbage-collector: ServiceAccount/kube-system/pod-garbage-collector
ClusterRoleBinding system:controller:pv-protection-controller = ClusterRole/system:controller:pv-protection-controller: ServiceAccount/kube-system/pv-protection-controller
ClusterRoleBinding system:controller:pvc-protection-controller = ClusterRole/system:controller:pvc-protection-controller: ServiceAccount/kube-system/pvc-protection-controller
ClusterRoleBinding system:controller:replicaset-controller = ClusterRole/system:controller:replicaset-controller: ServiceAccount/kube-system/replicaset-controller
ClusterRoleBinding system:controller:replication-controller = ClusterRole/system:controller:replication-controller: ServiceAccount/kube-system/replication-controller
ClusterRoleBinding system:controller:resourcequota-controller = ClusterRole/system:controller:resourcequota-controller: ServiceAccount/kube-system/resourcequota-controller
ClusterRoleBinding system:controller:root-ca-cert-publisher = ClusterRole/system:controller:root-ca-cert-publisher: ServiceAccount/kube-system/root-ca-cert-publisher
ClusterRoleBinding system:controller:route-controller = ClusterRole/system:controller:route-controller: ServiceAccount/kube-system/route-controller
ClusterRoleBinding system:controller:selinux-warning-controller = ClusterRole/system:controller:selinux-warning-controller: ServiceAccount/kube-system/selinux-warning-controller ? SELinuxChangePolicy
ClusterRoleBinding system:controller:service-account-controller = ClusterRole/system:controller:service-account-controller: ServiceAccount/kube-system/service-account-controller
ClusterRoleBinding system:controller:service-cidrs-controller = ClusterRole/system:controller:service-cidrs-controller: ServiceAccount/kube-system/service-cidrs-controller ? MultiCIDRServiceAllocator
ClusterRoleBinding system:controller:service-controller = ClusterRole/system:controller:service-controller: ServiceAccount/kube-system/service-controller
ClusterRoleBinding system:controller:statefulset-controller = ClusterRole/system:controller:statefulset-controller: ServiceAccount/kube-system/statefulset-controller
ClusterRoleBinding system:controller:ttl-after-finished-controller = ClusterRole/system:controller:ttl-after-finished-controller: ServiceAccount/kube-system/ttl-after-finished-controller
ClusterRoleBinding system:controller:ttl-controller = ClusterRole/system:controller:ttl-controller: ServiceAccount/kube-system/ttl-controller
ClusterRoleBinding system:controller:validatingadmissionpolicy-status-controller = ClusterRole/system:controller:validatingadmissionpolicy-status-controller: ServiceAccount/kube-system/validatingadmissionpolicy-status-controller
ClusterRoleBinding system:discovery = ClusterRole/system:discovery: Group/system:authenticated
ClusterRoleBinding system:kube-controller-manager = ClusterRole/system:kube-controller-manager: User/system:kube-controller-manager
ClusterRoleBinding system:kube-dns = ClusterRole/system:kube-dns: ServiceAccount/kube-system/kube-dns
ClusterRoleBinding system:kube-scheduler = ClusterRole/system:kube-scheduler: User/system:kube-scheduler
ClusterRoleBinding system:monitoring = ClusterRole/system:monitoring: Group/system:monitoring
ClusterRoleBinding system:node = ClusterRole/system:node:
ClusterRoleBinding system:node-proxier = ClusterRole/system:node-proxier: User/system:kube-proxy
ClusterRoleBinding system:public-info-viewer = ClusterRole/system:public-info-viewer: Group/system:authenticated Group/system:unauthenticated
ClusterRoleBinding system:service-account-issuer-discovery = ClusterRole/system:service-account-issuer-discovery: Group/system:serviceaccounts
ClusterRoleBinding system:volume-scheduler = ClusterRole/system:volume-scheduler: User/system:kube-scheduler
ClusterRoleBinding system:controller:resource-claim-controller = ClusterRole/system:controller:resource-claim-controller: ServiceAccount/kube-system/resource-claim-controller ? DynamicResourceAllocation
ClusterRoleBinding system:controller:device-taint-eviction-controller = ClusterRole/system:controller:device-taint-eviction-controller: ServiceAccount/kube-system/device-taint-eviction-controller ? DynamicResourceAllocation,DRADeviceTaints
ClusterRoleBinding system:controller:volumeattributesclass-protection-controller = ClusterRole/system:controller:volumeattributesclass-protection-controller: ServiceAccount/kube-system/volumeattributesclass-protection-controller ? VolumeAttributesClass
ClusterRoleBinding system:cluster-trust-bundle-discovery = ClusterRole/system:cluster-trust-bundle-discovery: Group/system:serviceaccounts ? ClusterTrustBundle
ClusterRoleBinding system:controller:kube-apiserver-serving-clustertrustbundle-publisher = ClusterRole/system:controller:kube-apiserver-serving-clustertrustbundle-publisher: ServiceAccount/kube-system/kube-apiserver-serving-clustertrustbundle-publisher ? ClusterTrustBundle
ClusterRoleBinding system:controller:storage-version-migrator-controller = ClusterRole/system:controller:storage-version-migrator-controller: ServiceAccount/kube-system/storage-version-migrator-controller ? StorageVersionMigrator
ClusterRoleBinding system:controller:podcertificaterequestcleaner = ClusterRole/system:controller:podcertificaterequestcleaner: ServiceAccount/kube-system/podcertificaterequestcleaner ? PodCertificateRequest
ClusterRoleBinding system:controller:podgroup-protection-controller = ClusterRole/system:controller:podgroup-protection-controller: ServiceAccount/kube-system/podgroup-protection-controller ? 36-,GenericWorkload
ClusterRoleBinding system:controller:resourcepoolstatusrequest-controller = ClusterRole/system:controller:resourcepoolstatusrequest-controller: ServiceAccount/kube-system/resourcepoolstatusrequest-controller ? DRAResourcePoolStatus
RoleBinding kube-public/system:controller:bootstrap-signer = Role/system:controller:bootstrap-signer: ServiceAccount/kube-system/bootstrap-signer
RoleBinding kube-system/system::extension-apiserver-authentication-reader = Role/extension-apiserver-authentication-reader: User/system:kube-controller-manager User/system:kube-scheduler
RoleBinding kube-system/system::leader-locking-kube-controller-manager = Role/system::leader-locking-kube-controller-manager: User/system:kube-controller-manager ServiceAccount/kube-system/kube-controller-manager ServiceAccount/kube-system/leader-election-controller
RoleBinding kube-system/system::leader-locking-kube-scheduler = Role/system::leader-locking-kube-scheduler: User/system:kube-scheduler ServiceAccount/kube-system/kube-scheduler
RoleBinding kube-system/system:controller:bootstrap-signer = Role/system:controller:bootstrap-signer: ServiceAccount/kube-system/bootstrap-signer
RoleBinding kube-system/system:controller:cloud-provider = Role/system:controller:cloud-provider: ServiceAccount/kube-system/cloud-provider
RoleBinding kube-system/system:controller:token-cleaner = Role/system:controller:token-cleaner: ServiceAccount/kube-system/token-cleaner
`
