/** Admission plugins that restrict kubelets and owner references, which are off by default. */
import type { SetUps } from '../set-ups.ts'

const plugins = '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement'

export const setUps: SetUps = {
  'node-restriction': { flags: [plugins] },
  'node-restriction-devices': {
    flags: [
      plugins,
      '--runtime-config=api/all=true',
      '--feature-gates=DynamicResourceAllocation=true,ClusterTrustBundle=true,ClusterTrustBundleProjection=true',
    ],
  },
  'node-restriction-gates': {
    flags: [
      plugins,
      '--feature-gates=ServiceAccountNodeAudienceRestriction=false,AllowInsecureKubeletCertificateSigningRequests=true,AuthorizeNodeWithSelectors=false,RecoverVolumeExpansionFailure=false',
    ],
  },
}
