/** Written by scripts/catalogue.ts. The form: registry/read-resources.ts. */
export const resourceTable = `
v1 core/v1
  bindings Binding namespaced C
  componentstatuses ComponentStatus cluster GL short=cs
  configmaps ConfigMap namespaced std short=cm
  endpoints Endpoints namespaced std short=ep
  events Event namespaced std short=ev
  limitranges LimitRange namespaced std short=limits
  namespaces Namespace cluster CDGLPUW short=ns /finalize:U /status:GPU
  nodes Node cluster std short=no /proxy:CDGPU=NodeProxyOptions /status:GPU
  persistentvolumeclaims PersistentVolumeClaim namespaced std short=pvc /status:GPU
  persistentvolumes PersistentVolume cluster std short=pv /status:GPU
  pods Pod namespaced std short=po in=all /attach:CG=PodAttachOptions /binding:C=Binding /ephemeralcontainers:GPU /eviction:C=policy/v1/Eviction /exec:CG=PodExecOptions /log:G /portforward:CG=PodPortForwardOptions /proxy:CDGPU=PodProxyOptions /resize:GPU /status:GPU
  podtemplates PodTemplate namespaced std
  replicationcontrollers ReplicationController namespaced std short=rc in=all /scale:GPU=autoscaling/v1/Scale /status:GPU
  resourcequotas ResourceQuota namespaced std short=quota /status:GPU
  secrets Secret namespaced std
  serviceaccounts ServiceAccount namespaced std short=sa /token:C=authentication.k8s.io/v1/TokenRequest
  services Service namespaced std short=svc in=all /proxy:CDGPU=ServiceProxyOptions /status:GPU

apiregistration.k8s.io/v1 apiregistration/v1
  apiservices APIService cluster std in=api-extensions /status:GPU

apps/v1 apps/v1
  controllerrevisions ControllerRevision namespaced std
  daemonsets DaemonSet namespaced std short=ds in=all /status:GPU
  deployments Deployment namespaced std short=deploy in=all /scale:GPU=autoscaling/v1/Scale /status:GPU
  replicasets ReplicaSet namespaced std short=rs in=all /scale:GPU=autoscaling/v1/Scale /status:GPU
  statefulsets StatefulSet namespaced std short=sts in=all /scale:GPU=autoscaling/v1/Scale /status:GPU

events.k8s.io/v1 events/v1
  events Event namespaced std stored=v1 short=ev

authentication.k8s.io/v1 authentication/v1
  selfsubjectreviews SelfSubjectReview cluster C
  tokenreviews TokenReview cluster C

authorization.k8s.io/v1 authorization/v1
  localsubjectaccessreviews LocalSubjectAccessReview namespaced C
  selfsubjectaccessreviews SelfSubjectAccessReview cluster C
  selfsubjectrulesreviews SelfSubjectRulesReview cluster C
  subjectaccessreviews SubjectAccessReview cluster C

autoscaling/v2 autoscaling/v2
  horizontalpodautoscalers HorizontalPodAutoscaler namespaced std short=hpa in=all /status:GPU

autoscaling/v1 autoscaling/v1
  horizontalpodautoscalers HorizontalPodAutoscaler namespaced std stored=autoscaling/v2 short=hpa in=all /status:GPU

batch/v1 batch/v1
  cronjobs CronJob namespaced std short=cj in=all /status:GPU
  jobs Job namespaced std in=all /status:GPU

certificates.k8s.io/v1 certificates/v1
  certificatesigningrequests CertificateSigningRequest cluster std short=csr /approval:GPU /status:GPU

certificates.k8s.io/v1beta1 certificates/v1beta1
  clustertrustbundles ClusterTrustBundle cluster std

certificates.k8s.io/v1alpha1 certificates/v1alpha1
  clustertrustbundles ClusterTrustBundle cluster std stored=certificates.k8s.io/v1beta1

networking.k8s.io/v1 networking/v1
  ingressclasses IngressClass cluster std
  ingresses Ingress namespaced std short=ing /status:GPU
  ipaddresses IPAddress cluster std stored=networking.k8s.io/v1beta1 short=ip
  networkpolicies NetworkPolicy namespaced std short=netpol
  servicecidrs ServiceCIDR cluster std stored=networking.k8s.io/v1beta1 /status:GPU

networking.k8s.io/v1beta1 networking/v1beta1
  ipaddresses IPAddress cluster std short=ip
  servicecidrs ServiceCIDR cluster std /status:GPU

policy/v1 policy/v1
  poddisruptionbudgets PodDisruptionBudget namespaced std short=pdb /status:GPU

rbac.authorization.k8s.io/v1 rbac/v1
  clusterrolebindings ClusterRoleBinding cluster std
  clusterroles ClusterRole cluster std
  rolebindings RoleBinding namespaced std
  roles Role namespaced std

storage.k8s.io/v1 storage/v1
  csidrivers CSIDriver cluster std
  csinodes CSINode cluster std
  csistoragecapacities CSIStorageCapacity namespaced std
  storageclasses StorageClass cluster std short=sc
  volumeattachments VolumeAttachment cluster std /status:GPU

storage.k8s.io/v1beta1 storage/v1beta1
  volumeattributesclasses VolumeAttributesClass cluster std short=vac

storage.k8s.io/v1alpha1 storage/v1alpha1
  volumeattributesclasses VolumeAttributesClass cluster std stored=storage.k8s.io/v1beta1 short=vac

admissionregistration.k8s.io/v1 admissionregistration/v1
  mutatingwebhookconfigurations MutatingWebhookConfiguration cluster std in=api-extensions
  validatingadmissionpolicies ValidatingAdmissionPolicy cluster std in=api-extensions /status:GPU
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster std in=api-extensions
  validatingwebhookconfigurations ValidatingWebhookConfiguration cluster std in=api-extensions

admissionregistration.k8s.io/v1beta1 admissionregistration/v1beta1
  validatingadmissionpolicies ValidatingAdmissionPolicy cluster std stored=admissionregistration.k8s.io/v1 in=api-extensions /status:GPU
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster std stored=admissionregistration.k8s.io/v1 in=api-extensions

admissionregistration.k8s.io/v1alpha1 admissionregistration/v1alpha1
  mutatingadmissionpolicies MutatingAdmissionPolicy cluster std in=api-extensions
  mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding cluster std in=api-extensions

apiextensions.k8s.io/v1 apiextensions/v1
  customresourcedefinitions CustomResourceDefinition cluster std stored=apiextensions.k8s.io/v1beta1 short=crd,crds in=api-extensions /status:GPU

scheduling.k8s.io/v1 scheduling/v1
  priorityclasses PriorityClass cluster std short=pc

coordination.k8s.io/v1 coordination/v1
  leases Lease namespaced std

coordination.k8s.io/v1beta1 coordination/v1beta1
  leasecandidates LeaseCandidate namespaced std

coordination.k8s.io/v1alpha2 coordination/v1alpha2
  leasecandidates LeaseCandidate namespaced std stored=coordination.k8s.io/v1beta1

node.k8s.io/v1 node/v1
  runtimeclasses RuntimeClass cluster std

discovery.k8s.io/v1 discovery/v1
  endpointslices EndpointSlice namespaced std

resource.k8s.io/v1beta2 resource/v1beta2
  deviceclasses DeviceClass cluster std stored=resource.k8s.io/v1beta1
  resourceclaims ResourceClaim namespaced std stored=resource.k8s.io/v1beta1 /status:GPU
  resourceclaimtemplates ResourceClaimTemplate namespaced std stored=resource.k8s.io/v1beta1
  resourceslices ResourceSlice cluster std stored=resource.k8s.io/v1beta1

resource.k8s.io/v1beta1 resource/v1beta1
  deviceclasses DeviceClass cluster std
  resourceclaims ResourceClaim namespaced std /status:GPU
  resourceclaimtemplates ResourceClaimTemplate namespaced std
  resourceslices ResourceSlice cluster std

resource.k8s.io/v1alpha3 resource/v1alpha3
  deviceclasses DeviceClass cluster std stored=resource.k8s.io/v1beta1
  devicetaintrules DeviceTaintRule cluster std
  resourceclaims ResourceClaim namespaced std stored=resource.k8s.io/v1beta1 /status:GPU
  resourceclaimtemplates ResourceClaimTemplate namespaced std stored=resource.k8s.io/v1beta1
  resourceslices ResourceSlice cluster std stored=resource.k8s.io/v1beta1

flowcontrol.apiserver.k8s.io/v1 flowcontrol/v1
  flowschemas FlowSchema cluster std /status:GPU
  prioritylevelconfigurations PriorityLevelConfiguration cluster std /status:GPU

internal.apiserver.k8s.io/v1alpha1 apiserverinternal/v1alpha1
  storageversions StorageVersion cluster std /status:GPU

storagemigration.k8s.io/v1alpha1 storagemigration/v1alpha1
  storageversionmigrations StorageVersionMigration cluster std /status:GPU
`
