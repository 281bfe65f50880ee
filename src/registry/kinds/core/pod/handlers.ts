/** Rules for probes and lifecycle handlers. */
import {
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../../api/field-fault.ts'
import { fieldsOf, itemsOf, numberOf, textOf } from '../../../../api/object.ts'
import { portNumber, portNumberOrName } from '../../../rules/ports.ts'
import { eachIn, fields, ifPresent, needed, type Rule } from '../../../rules/rule.ts'
import { nonNegative, oneOf } from '../../../rules/scalars.ts'
import type { PodRule } from './check.ts'

const headerRule =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"

const httpHeaders: Rule = (value, path, check) => {
  eachIn(itemsOf(value), check, (item, _, { faults }) => {
    const name = textOf(item['name'])
    if (!/^[-A-Za-z0-9]+$/.test(name)) faults.push(invalidValue(path, name, headerRule))
  })
}

const httpGet: Rule = fields({
  path: needed(),
  port: portNumberOrName,
  scheme: oneOf('HTTP', 'HTTPS'),
  httpHeaders,
})

/**
 * Rule for a sleep action. Its duration must not exceed the grace period, and can be zero only if
 * the feature gate PodLifecycleSleepActionAllowZero is on.
 */
const sleep: PodRule = (value, path, { faults, gates, spec }) => {
  const seconds = numberOf(fieldsOf(value)['seconds'])
  const grace = numberOf(spec['terminationGracePeriodSeconds'] ?? 30)
  const allowsZero = gates.isOn('PodLifecycleSleepActionAllowZero')
  if (seconds >= (allowsZero ? 0 : 1) && seconds <= grace) return
  const why = allowsZero
    ? `must be non-negative and less than terminationGracePeriodSeconds (${grace})`
    : `must be greater than 0 and less than terminationGracePeriodSeconds (${grace}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`
  faults.push(invalidValue(path, seconds, why))
}

/** Handlers in order of precedence. A second handler is refused. */
const handlers: { readonly [handler: string]: PodRule } = {
  exec: fields({ command: needed() }),
  httpGet,
  tcpSocket: fields({ port: portNumberOrName }),
  grpc: fields({ port: portNumber }),
  sleep,
}

/** Rule for a handler, which must have exactly one action. */
const handler: PodRule = (value, path, check) => {
  const struct = fieldsOf(value)
  const names = Object.keys(handlers).filter(
    (name) => struct[name] !== undefined && struct[name] !== null,
  )
  for (const [at, name] of names.entries()) {
    if (at > 0)
      check.faults.push(
        forbiddenField(`${path}.${name}`, 'may not specify more than 1 handler type'),
      )
    else handlers[name]?.(struct[name], `${path}.${name}`, check)
  }
  if (names.length === 0) check.faults.push(required(path, 'must specify a handler type'))
}

const windowsSignals = ['SIGKILL', 'SIGTERM']
const linuxSignals = [
  ...`ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT RTMAX SEGV STKFLT STOP SYS TERM TRAP
  TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN`.split(/\s+/),
  ...Array.from({ length: 14 }, (_, at) => `RTMAX-${at + 1}`),
  ...Array.from({ length: 15 }, (_, at) => `RTMIN+${at + 1}`),
]
  .map((name) => `SIG${name}`)
  .toSorted()

/**
 * Rule for the stop signal. The valid signals depend on the operating system of the Pod (gate
 * ContainerStopSignals).
 */
const stopSignal: PodRule = ifPresent((value, path, { faults, spec }) => {
  const system = textOf(fieldsOf(spec['os'])['name'])
  const signals = system === 'windows' ? windowsSignals : linuxSignals
  if (system === '')
    faults.push(forbiddenField(path, 'may not be set for containers with empty `spec.os.name`'))
  else if (!signals.includes(textOf(value))) faults.push(notSupported(path, textOf(value), signals))
})

const lifecycle: PodRule = ifPresent(
  fields({ postStart: ifPresent(handler), preStop: ifPresent(handler), stopSignal }),
)

const times: Rule = fields({
  initialDelaySeconds: nonNegative,
  timeoutSeconds: nonNegative,
  periodSeconds: nonNegative,
  successThreshold: nonNegative,
  failureThreshold: nonNegative,
  terminationGracePeriodSeconds: ifPresent((value, path, { faults }) => {
    if (numberOf(value) <= 0)
      faults.push(invalidValue(path, numberOf(value), 'must be greater than 0'))
  }),
})

const probe: PodRule = (value, path, check) => {
  handler(value, path, check)
  times(value, path, check)
}

/**
 * Rule for liveness and startup probes, whose failure restarts the container. Their success
 * threshold must be 1.
 */
const restarting: PodRule = ifPresent((value, path, check) => {
  probe(value, path, check)
  const successes = numberOf(fieldsOf(value)['successThreshold'])
  if (successes !== 1)
    check.faults.push(invalidValue(`${path}.successThreshold`, successes, 'must be 1'))
})

const readiness: PodRule = ifPresent((value, path, check) => {
  probe(value, path, check)
  const grace = fieldsOf(value)['terminationGracePeriodSeconds']
  if (grace === undefined) return
  const at = `${path}.terminationGracePeriodSeconds`
  check.faults.push(invalidValue(at, numberOf(grace), 'must not be set for readinessProbes'))
})

/** Rule for the probes and lifecycle handlers of containers and sidecars. */
export const running: PodRule = fields({
  lifecycle,
  livenessProbe: restarting,
  readinessProbe: readiness,
  startupProbe: restarting,
})
