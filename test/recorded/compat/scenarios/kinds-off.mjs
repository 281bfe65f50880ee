// Kinds that v1.33 knows but does not serve unless told to: their paths are not found.
import { scenario, GET, POST } from '../steps.ts';

const off = {
  'admissionregistration.k8s.io/v1alpha1': ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  'admissionregistration.k8s.io/v1beta1': ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  'certificates.k8s.io/v1alpha1': ['clustertrustbundles'], 'certificates.k8s.io/v1beta1': ['clustertrustbundles'],
  'coordination.k8s.io/v1alpha2': ['leasecandidates'], 'coordination.k8s.io/v1beta1': ['leasecandidates'],
  'internal.apiserver.k8s.io/v1alpha1': ['storageversions'], 'networking.k8s.io/v1beta1': ['ipaddresses', 'servicecidrs'],
  'resource.k8s.io/v1beta1': ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'], 'resource.k8s.io/v1beta2': ['resourceclaims'],
  'storage.k8s.io/v1alpha1': ['volumeattributesclasses'], 'storage.k8s.io/v1beta1': ['volumeattributesclasses', 'csistoragecapacities'], 'storagemigration.k8s.io/v1alpha1': ['storageversionmigrations'],
  'flowcontrol.apiserver.k8s.io/v1beta3': ['flowschemas'], 'autoscaling/v2beta2': ['horizontalpodautoscalers'], 'policy/v1beta1': ['poddisruptionbudgets'], 'batch/v1beta1': ['cronjobs'],
};

export default Object.entries(off).map(([groupVersion, resources]) => scenario(`off-${groupVersion.replace(/[./]/g, '-')}`, { section: '9.1', about: `${groupVersion} is not served`, namespace: false }, [
  GET(`/apis/${groupVersion}`),
  ...resources.flatMap((r) => [GET(`/apis/${groupVersion}/${r}`), POST(`/apis/${groupVersion}/${r}`, { apiVersion: groupVersion, metadata: { name: 'x' } })]),
]));
