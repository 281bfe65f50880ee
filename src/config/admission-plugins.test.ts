import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseAdmissionPlugins,
  type PluginFlags,
  pluginOrder,
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
