import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeServers, remoteService } from '../../../test/support/harness/fake-remote-servers.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { ListedGroups } from './listed-groups.ts'
import { noRemoteServers } from './remote/remote-servers.ts'

const namesOf = (groups: ListedGroups): string[] => Array.from(groups.all, ({ name }) => name)

test('built-in groups are listed by priority, then by name', () => {
  const names = namesOf(new ListedGroups(new Registry(builtInResources()), noRemoteServers))
  assert.deepEqual(names.slice(0, 4), [
    'apiregistration.k8s.io',
    'apps',
    'events.k8s.io',
    'authentication.k8s.io',
  ])
  assert.equal(
    names.indexOf('admissionregistration.k8s.io') + 1,
    names.indexOf('apiextensions.k8s.io'),
  )
})

test('a group is sorted by the highest priority of its APIServices, and its versions by their own priorities', () => {
  const servers = new FakeServers()
  const groups = new ListedGroups(new Registry(builtInResources()), servers)
  servers.set(
    remoteService('v1alpha1.stable.example.com', { groupPriorityMinimum: 1, versionPriority: 20 }),
    remoteService('v1.stable.example.com', { groupPriorityMinimum: 20_000 }),
    remoteService('v1beta1.stable.example.com'),
    remoteService('v2.a.example.com'),
    remoteService('v1.b.example.com'),
  )
  assert.deepEqual(namesOf(groups).slice(0, 3), [
    'apiregistration.k8s.io',
    'stable.example.com',
    'apps',
  ])
  assert.deepEqual(groups.find('stable.example.com')?.versions, ['v1alpha1', 'v1', 'v1beta1'])
  // As in kube-apiserver, groups with the same priority are sorted by the names of their
  // APIServices, which begin with the version.
  assert.deepEqual(namesOf(groups).slice(-2), ['b.example.com', 'a.example.com'])
  servers.set()
  assert.equal(groups.find('stable.example.com'), undefined)
})

test('the group of a local APIService is listed, unless the server manages the APIService but does not serve the group', () => {
  const servers = new FakeServers()
  const groups = new ListedGroups(new Registry(builtInResources()), servers)
  const local = { remote: undefined }
  servers.set(
    remoteService('v1.mine.example.com', local),
    remoteService('v1.old.example.com', { ...local, isManaged: true }),
    remoteService('v1.apps', { ...local, isManaged: true, groupPriorityMinimum: 1 }),
    remoteService('v1.', local),
  )
  assert.deepEqual(groups.find('mine.example.com')?.versions, ['v1'])
  assert.equal(groups.find('old.example.com'), undefined)
  assert.equal(groups.find(''), undefined)
  assert.equal(namesOf(groups).at(-1), 'apps')
})
