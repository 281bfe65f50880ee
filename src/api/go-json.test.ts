import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goToJson } from './go-json.ts'

const cases: readonly (readonly [go: string, json: string | undefined])[] = [
  ['"null"', 'null'],
  ['[]string{"a", "b"}', '["a","b"]'],
  ['[]string(nil)', 'null'],
  ['map[string]string{"b":"1", "a":"<x>"}', '{"a":"\\u003cx\\u003e","b":"1"}'],
  ['map[string]string(nil)', 'null'],
  ['intstr.IntOrString{Type:0, IntVal:5, StrVal:""}', '5'],
  ['intstr.IntOrString{Type:1, IntVal:0, StrVal:"5%"}', '"5%"'],
  [
    'v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}',
    '{"matchLabels":{"a":"b"}}',
  ],
  [
    '[]v1.OwnerReference{v1.OwnerReference{APIVersion:"v1", Kind:"Pod", Name:"a", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}}',
    '[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"}]',
  ],
  [
    'apiextensions.ValidationRule{Rule:"a", Message:"", Reason:(*apiextensions.FieldValueErrorReason)(nil)}',
    '{"Rule":"a","Message":"","Reason":null}',
  ],
  [
    'rbac.RoleRef{APIGroup:"g", Kind:"Role", Name:"r"}',
    '{"APIGroup":"g","Kind":"Role","Name":"r"}',
  ],
  ['[]byte{0x61, 0x62}', '"YWI="'],
  ['field.Path{name:"spec", index:"", parent:(*field.Path)(0xc000000000)}', '{}'],
  ['map[string]interface {}{"a":[]interface {}{1, true}}', '{"a":[1,true]}'],
  ['2001-02-03 04:05:06 +0000 UTC', '"2001-02-03T04:05:06Z"'],
  ['0001-01-01 00:00:00 +0000 UTC', 'null'],
  ['core.ResourceList(nil)', 'null'],
  ['core.A{B:(*int32)(0xc000000000)}', undefined],
  ['[]string{"a"... (5 more)}', undefined],
]

test('a value that is written in Go syntax is converted to JSON', () => {
  for (const [go, json] of cases) assert.equal(goToJson(go), json, go)
})
