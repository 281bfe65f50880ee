/**
 * Validates how objects are converted between versions: either only the apiVersion is changed, or a
 * webhook converts them.
 */
import { X509Certificate } from 'node:crypto'
import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goBytes, goStrings } from '../../../api/go-value.ts'
import { checkDns1035Label } from '../../../api/names.ts'
import { type Fields, fieldsOf, isFields, type Json, textOf, textsOf } from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { validateClientConfig } from '../../rules/webhook.ts'

/** The stored CRD, before the update. */
export type StoredCrd = { readonly was: Fields; readonly isEstablished: boolean }

const path = 'spec.conversion'
const reviewVersions = ['v1', 'v1beta1']
const onlyWebhooks = 'should not be set when strategy is not set to Webhook'

/** Validates the field `conversion`, in the form in which CRDs are stored. */
export function validateConversion(
  conversion: Json | undefined,
  before: StoredCrd | undefined,
): FieldFault[] {
  if (!isFields(conversion)) return []
  const { strategy, webhookClientConfig: config, conversionReviewVersions } = conversion
  const versions = textsOf(conversionReviewVersions)
  const faults = validateStrategy(textOf(strategy))
  if (strategy !== 'Webhook') {
    if (isFields(config)) faults.push(forbiddenField(`${path}.webhookClientConfig`, onlyWebhooks))
    if (versions.length > 0)
      faults.push(forbiddenField(`${path}.conversionReviewVersions`, onlyWebhooks))
    return faults
  }
  if (isFields(config)) {
    faults.push(...validateClientConfig(config, `${path}.webhookClientConfig`))
    if (isBundleChecked(before)) faults.push(...validateBundle(textOf(config['caBundle'])))
  } else
    faults.push(required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook'))
  return [...faults, ...validateReviewVersions(versions)]
}

function validateStrategy(strategy: string): FieldFault[] {
  if (strategy === '') return [required(`${path}.strategy`)]
  const strategies = ['None', 'Webhook']
  return strategies.includes(strategy)
    ? []
    : [notSupported(`${path}.strategy`, strategy, strategies)]
}

function validateReviewVersions(versions: readonly string[]): FieldFault[] {
  const own = `${path}.conversionReviewVersions`
  if (versions.length === 0) return [required(own)]
  const repeats = repeatsIn(versions)
  const faults = faultsOfEach(versions, (version, at) =>
    repeats.has(at)
      ? [invalidValue(`${own}[${at}]`, version, 'duplicate version')]
      : checked(`${own}[${at}]`, version, checkDns1035Label),
  )
  if (reviewVersions.some((version) => versions.includes(version))) return faults
  return [
    ...faults,
    invalidShown(
      own,
      goStrings(versions),
      `must include at least one of ${reviewVersions.join(', ')}`,
    ),
  ]
}

/**
 * Whether an update validates the CA bundle. The bundle is validated if the CRD is established,
 * because an invalid bundle would break the conversion webhook. A bundle that was already invalid
 * is accepted.
 */
function isBundleChecked(before: StoredCrd | undefined): boolean {
  if (before?.isEstablished !== true) return false
  const { webhook } = fieldsOf(before.was['conversion'])
  return (
    validateBundle(textOf(fieldsOf(fieldsOf(webhook)['clientConfig'])['caBundle'])).length === 0
  )
}

function validateBundle(bundle: string): FieldFault[] {
  if (bundle === '' || isCertificate(bundle)) return []
  const why = 'unable to load root certificates: unable to parse bytes as PEM block'
  const json = Buffer.from(bundle, 'base64').toString('base64')
  return [invalidShown(`${path}.webhookClientConfig.caBundle`, goBytes(bundle), why, { json })]
}

function isCertificate(bundle: string): boolean {
  try {
    return new X509Certificate(Buffer.from(bundle, 'base64')).raw.length > 0
  } catch {
    return false
  }
}
