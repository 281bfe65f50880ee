import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseAdmissionPlugins,
  type PluginFlags,
  pluginOrder,
  pluginOrderOf,
  pluginsByName,
  pluginsOnByDefault,
} from './admission-plugins.ts'

const running = (flags: Partial<PluginFlags>): readonly string[] =>
  parseAdmissionPlugins({ enabled: undefined, disabled: undefined, exactly: undefined, ...flags })
    .plugins.running

test('the flags for admission plugins add and remove plugins, but never change the order in which plugins run', () => {
  const usual = pluginsOnByDefault.split(', ')
  assert.deepEqual(running({}), usual)
  const enabled = ['OwnerReferencesPermissionEnforcement', 'Priority', 'NodeRestriction']
  const all = new Set([...usual, ...enabled])
  assert.deepEqual(
    running({ enabled }),
    pluginOrder.filter((name) => all.has(name)),
  )
  assert.deepEqual(
    running({ disabled: ['ResourceQuota', 'NamespaceLifecycle', 'AlwaysAdmit'] }),
    usual.filter((name) => name !== 'ResourceQuota' && name !== 'NamespaceLifecycle'),
  )
})

test('--admission-control is the complete list of plugins to run', () => {
  assert.deepEqual(running({ exactly: ['NodeRestriction', 'LimitRanger'] }), [
    'LimitRanger',
    'NodeRestriction',
  ])
  assert.deepEqual(running({ exactly: [] }), [])
})

test('the help text contains the same lists of plugins as kube-apiserver v1.33', () => {
  assert.equal(
    pluginsOnByDefault,
    'NamespaceLifecycle, LimitRanger, ServiceAccount, TaintNodesByCondition, PodSecurity, Priority, DefaultTolerationSeconds, DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize, RuntimeClass, CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction, DefaultIngressClass, PodTopologyLabels, MutatingAdmissionPolicy, MutatingAdmissionWebhook, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook, ResourceQuota',
  )
  assert.equal(
    pluginsByName,
    'AlwaysAdmit, AlwaysDeny, AlwaysPullImages, CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest, DefaultIngressClass, DefaultStorageClass, DefaultTolerationSeconds, DenyServiceExternalIPs, EventRateLimit, ExtendedResourceToleration, ImagePolicyWebhook, LimitPodHardAntiAffinityTopology, LimitRanger, MutatingAdmissionPolicy, MutatingAdmissionWebhook, NamespaceAutoProvision, NamespaceExists, NamespaceLifecycle, NodeRestriction, OwnerReferencesPermissionEnforcement, PersistentVolumeClaimResize, PodNodeSelector, PodSecurity, PodTolerationRestriction, PodTopologyLabels, Priority, ResourceQuota, RuntimeClass, ServiceAccount, StorageObjectInUseProtection, TaintNodesByCondition, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook',
  )
})

const added = (release: number): readonly string[] => {
  const before = new Set(pluginOrderOf(release - 1))
  return pluginOrderOf(release).filter((name) => !before.has(name))
}

test('each release has the plugins of its kube-apiserver', () => {
  assert.deepEqual(added(34), [])
  assert.deepEqual(added(35), ['NodeDeclaredFeatureValidator'])
  assert.deepEqual(added(36), [
    'PodGroupProtection',
    'PodGroupWorkloadExists',
    'JobValidation',
    'PodResizeValidator',
  ])
  assert.deepEqual(added(37), [])
  assert.ok(!pluginOrderOf(37).includes('JobValidation'))
})

test('the name of an admission plugin that a later release added is unknown', () => {
  const flags = { enabled: ['PodGroupProtection'], disabled: undefined, exactly: undefined }
  assert.deepEqual(parseAdmissionPlugins(flags, 35).faults, [
    'enable-admission-plugins plugin "PodGroupProtection" is unknown',
  ])
  assert.deepEqual(parseAdmissionPlugins(flags, 36).faults, [])
})
