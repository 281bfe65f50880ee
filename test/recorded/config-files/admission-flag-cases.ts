/**
 * Test cases for flags that name admission plugins. All flags are checked together, as in the
 * server.
 */
import { casesOf, type ConfigCase, type FileTable } from './case.ts'
import type { RawFlags } from './judge.ts'

const alone = (flags: RawFlags): readonly [null, RawFlags] => [null, flags]

const admission: FileTable = {
  'plugins/enabled-unknown': alone({ 'enable-admission-plugins': 'Nope,Priority,nope' }),
  'plugins/disabled-unknown': alone({ 'disable-admission-plugins': 'Nope' }),
  'plugins/enabled-blank': alone({ 'enable-admission-plugins': '' }),
  'plugins/enabled-comma': alone({ 'enable-admission-plugins': 'Priority,' }),
  'plugins/enabled-twice': alone({
    'enable-admission-plugins': ['NodeRestriction', 'NodeRestriction,Priority'],
  }),
  'plugins/disabled-webhooks': alone({
    'disable-admission-plugins':
      'ValidatingAdmissionWebhook,MutatingAdmissionWebhook,ValidatingAdmissionPolicy',
  }),
  'plugins/both': alone({
    'enable-admission-plugins': 'ResourceQuota,NodeRestriction,LimitRanger',
    'disable-admission-plugins': 'LimitRanger,ResourceQuota,AlwaysAdmit',
  }),
  'plugins/old': alone({ 'admission-control': 'LimitRanger,NamespaceLifecycle' }),
  'plugins/old-blank': alone({ 'admission-control': '' }),
  'plugins/old-unknown': alone({ 'admission-control': 'Nope' }),
  'plugins/old-and-enabled': alone({
    'admission-control': 'Nope',
    'enable-admission-plugins': 'Priority',
  }),
  'plugins/old-and-disabled-blank': alone({
    'admission-control': 'Priority',
    'disable-admission-plugins': '',
  }),
  'plugins/old-and-both': alone({
    'admission-control': 'Priority',
    'enable-admission-plugins': 'Nope,Priority',
    'disable-admission-plugins': 'Priority',
  }),
}

export const admissionFlagCases: readonly ConfigCase[] = casesOf('server', {}, admission)
