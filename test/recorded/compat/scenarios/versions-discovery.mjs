// Which versions --runtime-config serves: groups, resources, OpenAPI, APIServices.
import { GET, scenario } from '../steps.ts';

const groups = ['admissionregistration.k8s.io', 'certificates.k8s.io', 'coordination.k8s.io', 'internal.apiserver.k8s.io', 'networking.k8s.io', 'resource.k8s.io', 'storage.k8s.io', 'storagemigration.k8s.io'];
const off = ['admissionregistration.k8s.io/v1beta1', 'admissionregistration.k8s.io/v1alpha1', 'certificates.k8s.io/v1beta1', 'certificates.k8s.io/v1alpha1', 'coordination.k8s.io/v1beta1', 'coordination.k8s.io/v1alpha2', 'internal.apiserver.k8s.io/v1alpha1', 'networking.k8s.io/v1beta1', 'resource.k8s.io/v1beta2', 'resource.k8s.io/v1beta1', 'resource.k8s.io/v1alpha3', 'storage.k8s.io/v1beta1', 'storage.k8s.io/v1alpha1', 'storagemigration.k8s.io/v1alpha1', 'authentication.k8s.io/v1beta1', 'flowcontrol.apiserver.k8s.io/v1beta3', 'networking.k8s.io/v1alpha1'];
const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

export default ['all-versions', 'beta-versions', 'more-versions'].map((needs) => scenario(`versions-discovery-${needs}`, { section: '9.1', about: `what is served: ${needs}`, namespace: false, needs }, [
  GET('/apis', { pick: (b) => b.groups.filter(({ name }) => name.endsWith('.k8s.io')) }),
  GET('/apis', { headers: aggregated, pick: (b) => b.items.filter(({ metadata: { name } }) => groups.includes(name)) }),
  ...groups.map((group) => GET(`/apis/${group}`)),
  ...off.map((groupVersion) => GET(`/apis/${groupVersion}`)),
  GET('/openapi/v3', { json: true, pick: (b) => Object.keys(b.paths).filter((path) => groups.some((group) => path.includes(group))).sort() }),
  ...off.slice(0, 15).map((groupVersion) => GET(`/apis/apiregistration.k8s.io/v1/apiservices/${groupVersion.split('/').reverse().join('.')}`, { pick: (b) => b.spec ?? b })),
]));
