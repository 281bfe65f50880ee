// batch/v1: Job and CronJob.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { kind, tidy } from './kit/kinds-groups.mjs';

const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
const template = { spec: podSpec };
const job = kind({ apiVersion: 'batch/v1', resource: 'jobs', kind: 'Job', base: { spec: { template } } });
const cronjob = kind({ apiVersion: 'batch/v1', resource: 'cronjobs', kind: 'CronJob', base: { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } } } });

const indexed = { 'spec.completionMode': 'Indexed', 'spec.completions': 5 };
const failurePolicy = (...rules) => ({ 'spec.podFailurePolicy': { rules } });
const onExitCodes = (o) => failurePolicy({ action: 'FailJob', onExitCodes: { operator: 'In', values: [1], ...o } });
const onConditions = (...onPodConditions) => failurePolicy({ action: 'Ignore', onPodConditions });
const successPolicy = (...rules) => ({ ...indexed, 'spec.successPolicy': { rules } });
const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const t = (minute) => `2020-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const condition = (type, status = 'True') => ({ type, status, lastProbeTime: t(0), lastTransitionTime: t(0), reason: 'R', message: 'm' });
const complete = { startTime: t(1), completionTime: t(2), succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] };
const failed = { startTime: t(1), failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] };

/** The status moves in two steps: the first is stored, the others are tried from there. */
const moves = (id, about, edits, first, ...then) => scenario(`job-status-moves-${id}`, { section: '4.7', about: `Job status: ${about}` }, [
  POST(job.list, job.object(edits), { compare: 'status' }),
  PATCH(`${job.item}/status`, 'merge', { status: first }, { compare: 'status' }),
  ...then.map((status) => PATCH(`${job.item}/status`, 'merge', { status }, { query: { dryRun: 'All' }, pick: (b) => tidy(b.kind === 'Job' ? b.status : b) })),
]);

export default [
  ...job.creates({
    minimal: {},
    maximal: { spec: {
      parallelism: 2, completions: 4, completionMode: 'Indexed', activeDeadlineSeconds: 100, backoffLimit: 3, backoffLimitPerIndex: 1, maxFailedIndexes: 2, ttlSecondsAfterFinished: 0, suspend: true,
      podReplacementPolicy: 'Failed', managedBy: 'example.com/controller', podFailurePolicy: { rules: [
        { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'In', values: [1, 5, 7] } }, { action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [0, 3] } },
        { action: 'Count', onPodConditions: [{ type: 'DisruptionTarget' }, { type: 'Other', status: 'False' }] }] },
      successPolicy: { rules: [{ succeededIndexes: '0,2-3', succeededCount: 2 }, { succeededCount: 4 }] },
      template: { metadata: { labels: { a: 'b' }, annotations: { n: 'v' } }, spec: { ...podSpec, initContainers: [{ name: 'i', image: 'i' }] } } } },
    'parallelism-only': { 'spec.parallelism': 3 },
    'completions-only': { 'spec.completions': 3 },
    'zero-of-both': { 'spec.completions': 0, 'spec.parallelism': 0 },
    'labels-from-template': { 'spec.template.metadata': { labels: { a: 'b' } } },
    'labels-of-its-own': { 'metadata.labels': { c: 'd' }, 'spec.template.metadata': { labels: { a: 'b' } } },
    'backoff-per-index': { ...indexed, 'spec.backoffLimitPerIndex': 2 },
    'failure-policy': { ...onConditions({ type: 'DisruptionTarget' }) },
    'manual-selector': { 'spec.manualSelector': true, 'spec.selector': { matchLabels: { a: 'b' } }, 'spec.template.metadata': { labels: { a: 'b' } } },
  }),
  ...job.accepts({
    'name-not-a-label': { 'metadata.name': 'a.b' },
    'restart-policy': { 'spec.template.spec.restartPolicy': 'OnFailure' },
    'exit-codes-not-in-zero': onExitCodes({ operator: 'NotIn', values: [0] }),
    'success-policy': [successPolicy({ succeededIndexes: '' }), successPolicy({ succeededCount: 0 })],
    'indexed-without-completions': { 'spec.completionMode': 'Indexed' },
    'manual-selector-empty': { 'spec.manualSelector': true, 'spec.selector': {} },
    'indexed-parallelism': { ...indexed, 'spec.parallelism': 100000 },
    'huge-completions': [{ ...indexed, 'spec.completions': 100001 }, { 'spec.completions': 100001, 'spec.completionMode': 'Indexed', 'spec.parallelism': 10001 }],
  }),
  ...job.refuses({
    name: [{ 'metadata.name': 'A' }, { ...indexed, 'metadata.name': 'a'.repeat(62) }, { ...indexed, 'metadata.name': 'a.b' }],
    template: [{ 'spec.template': undefined }, { spec: undefined }, { 'spec.template.spec.containers': [] }],
    'restart-policy': [{ 'spec.template.spec.restartPolicy': undefined }, { 'spec.template.spec.restartPolicy': 'Always' }, { 'spec.template.spec.restartPolicy': 'Sometimes' }, { 'spec.template.spec.restartPolicy': 'OnFailure', ...onExitCodes({}) }],
    'negative-numbers': [{ 'spec.parallelism': -1 }, { 'spec.completions': -1 }, { 'spec.activeDeadlineSeconds': -1 }, { 'spec.backoffLimit': -1 }, { 'spec.ttlSecondsAfterFinished': -1 }, { ...indexed, 'spec.backoffLimitPerIndex': -1 }, { ...indexed, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': -1 }],
    selector: [
      { 'spec.selector': { matchLabels: { a: 'b' } } }, { 'spec.manualSelector': true }, { 'spec.manualSelector': true, 'spec.selector': { matchLabels: { a: 'b' } } },
      { 'spec.template.metadata': { labels: { 'job-name': 'other' } } }, { 'spec.template.metadata': { labels: { 'batch.kubernetes.io/controller-uid': 'other' } } },
      { 'spec.manualSelector': true, 'spec.selector': { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
    ],
    'completion-mode': [{ 'spec.completionMode': 'Random' }, { 'spec.completionMode': 'Indexed', 'spec.parallelism': 1 }, { 'spec.completionMode': 'Indexed', 'spec.parallelism': 100001, 'spec.completions': 1 }, { 'spec.completionMode': '' }],
    'indexed-only': [{ 'spec.backoffLimitPerIndex': 1 }, { 'spec.maxFailedIndexes': 1 }, { 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 1 }, { 'spec.successPolicy': { rules: [{ succeededCount: 1 }] } }],
    'max-failed-indexes': [{ ...indexed, 'spec.maxFailedIndexes': 1 }, { ...indexed, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 6 }, { ...indexed, 'spec.completions': 100000, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 100001 }],
    'high-completions': [{ ...indexed, 'spec.completions': 100001, 'spec.backoffLimitPerIndex': 1 }, { ...indexed, 'spec.completions': 100001, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 10001, 'spec.parallelism': 10001 }],
    'managed-by': [{ 'spec.managedBy': '' }, { 'spec.managedBy': 'example.com' }, { 'spec.managedBy': 'Example.com/x' }, { 'spec.managedBy': `example.com/${'a'.repeat(52)}` }, { 'spec.managedBy': 'example.com/a b' }],
    'failure-policy-action': [failurePolicy({ onExitCodes: { operator: 'In', values: [1] } }), failurePolicy({ action: 'Retry', onExitCodes: { operator: 'In', values: [1] } }), failurePolicy({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } })],
    'failure-policy-rule': [failurePolicy({ action: 'Ignore' }), failurePolicy({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] }, onPodConditions: [{ type: 'A', status: 'True' }] }), failurePolicy(...many(21, () => ({ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] })))],
    'failure-policy-exit-codes': [onExitCodes({ operator: undefined }), onExitCodes({ operator: 'Is' }), onExitCodes({ containerName: 'z' }), onExitCodes({ values: [] }), onExitCodes({ values: [0] }), onExitCodes({ values: [1, 1] }), onExitCodes({ values: [2, 1] }), onExitCodes({ values: many(256, (i) => i + 1) }), onExitCodes({ values: undefined })],
    'failure-policy-conditions': [onConditions({ type: '' }), onConditions({ type: 'bad type', status: 'True' }), onConditions({ type: 'A', status: 'Maybe' }), onConditions(...many(21, (i) => ({ type: `A${i}`, status: 'True' })))],
    'pod-replacement-policy': [{ 'spec.podReplacementPolicy': 'Sometimes' }, { 'spec.podReplacementPolicy': '' }, { ...onExitCodes({}), 'spec.podReplacementPolicy': 'TerminatingOrFailed' }],
    'success-policy-rules': [successPolicy(), successPolicy({}), successPolicy(...many(21, () => ({ succeededCount: 1 })))],
    'success-policy-count': [successPolicy({ succeededCount: -1 }), successPolicy({ succeededCount: 6 }), successPolicy({ succeededIndexes: '0-1', succeededCount: 3 })],
    'success-policy-indexes': ['a', '0-', '0-1-2', '5', '0-5', '2-1', '1,1', '3,0', '1-3,2', '0,,1', '1-1', ' 1'].map((succeededIndexes) => successPolicy({ succeededIndexes })),
  }),
  ...job.updates({
    completions: [{ spec: { completions: 2 } }, { spec: { completions: null } }, { spec: { parallelism: 7 } }, { spec: { parallelism: -7 } }],
    selector: [{ spec: { selector: { matchLabels: { a: 'b' } } } }, { spec: { selector: null } }, { spec: { manualSelector: true } }],
    template: [
      { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } }, { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }, { spec: { template: { metadata: { annotations: { a: 'b' } } } } },
      { spec: { template: { metadata: { labels: { 'job-name': null } } } } },
    ],
    'fixed-fields': [{ spec: { completionMode: 'Indexed' } }, { spec: { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] }] } } }, { spec: { managedBy: 'example.com/x' } }],
    'free-fields': [{ spec: { suspend: true, activeDeadlineSeconds: 9, backoffLimit: 1, ttlSecondsAfterFinished: 5, podReplacementPolicy: 'Failed' } }],
  }),
  ...job.updates({
    'indexed-completions': [{ spec: { completions: 6 } }, { spec: { completions: 6, parallelism: 6 } }, { spec: { completions: null } }, { spec: { completions: 2, parallelism: 2 } }],
    'indexed-fixed-fields': [{ spec: { backoffLimitPerIndex: 2 } }, { spec: { backoffLimitPerIndex: null, maxFailedIndexes: null } }, { spec: { maxFailedIndexes: 3 } }, { spec: { successPolicy: { rules: [{ succeededCount: 1 }] } } }, { spec: { podFailurePolicy: null } }],
  }, { from: { ...indexed, 'spec.backoffLimitPerIndex': 1, 'spec.maxFailedIndexes': 1, ...onExitCodes({}) } }),
  ...job.updates({
    'suspended-template': [
      { spec: { template: { spec: { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }], schedulingGates: [{ name: 'example.com/g' }], affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }] } } } }, metadata: { annotations: { a: 'b' }, labels: { c: 'd' } } } } },
      { spec: { template: { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', labelSelector: {} }] } } } } } },
      { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } },
      { spec: { template: { metadata: { labels: { 'job-name': null } } } } },
      { spec: { suspend: false, template: { spec: { nodeSelector: { a: 'b' } } } } },
    ],
  }, { from: { 'spec.suspend': true } }),
  scenario('job-suspended-after-start', { section: '4.7', about: 'Job: once it has started, its template is fixed even while suspended' }, [
    POST(job.list, job.object({ 'spec.suspend': true }), { compare: 'status' }),
    PATCH(`${job.item}/status`, 'merge', { status: { startTime: t(1) } }, { compare: 'status' }),
    PATCH(job.item, 'merge', { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }, { pick: tidy }),
  ]),
  ...job.puts(),
  ...job.strategy({ status: { active: 2, startTime: t(1) }, spec: { spec: { activeDeadlineSeconds: 5 } } }),
  scenario('job-deleted-by-default-orphans', { section: '3.1', about: 'Job: without a policy its dependents are orphaned, and a warning says so' }, [
    POST(job.list, job.object(), { compare: 'status' }),
    DELETE(job.item, undefined, { compareHeaders: ['warning'] }),
    GET(job.item, {}),
    POST(job.list, job.object({ 'metadata.name': 'y' }), { compare: 'status' }),
    DELETE(`${job.list}/y`, { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }, { compareHeaders: ['warning'] }),
  ]),
  scenario('job-field-selector', { section: '4.3', about: 'Job: the field selector status.successful' }, [
    POST(job.list, job.object(), { compare: 'status' }),
    ...['status.successful=0', 'status.successful=1', 'status.succeeded=0'].map((fieldSelector) => GET(job.list, { query: { fieldSelector }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b })),
  ]),
  ...job.statuses({
    counts: [
      { active: 2, ready: 1, terminating: 1, succeeded: 3, failed: 4, startTime: t(1), uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } },
      { active: -1, ready: -1, terminating: -1, succeeded: -1, failed: -1 },
      { active: 1, ready: 2 },
      { uncountedTerminatedPods: { succeeded: ['a', 'a', ''], failed: ['a', ''] } },
      { uncountedTerminatedPods: {} },
    ],
    finished: [
      complete, failed,
      { ...complete, completionTime: undefined }, { ...complete, startTime: undefined }, { ...complete, completionTime: t(0) }, { completionTime: t(2) },
      { ...complete, conditions: [condition('Complete')] }, { ...failed, conditions: [condition('Failed')] },
      { ...complete, active: 1, terminating: 1, uncountedTerminatedPods: { succeeded: ['a'] } },
    ],
    'contradicting-conditions': [
      { ...complete, failed: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete'), condition('FailureTarget'), condition('Failed')] },
      { conditions: [condition('SuccessCriteriaMet'), condition('FailureTarget')] },
      { ...failed, conditions: [...failed.conditions, condition('SuccessCriteriaMet')] },
    ],
    'indexes-of-a-job-without': [{ completedIndexes: '0' }, { failedIndexes: '0' }],
  }),
  ...kind({ apiVersion: 'batch/v1', resource: 'jobs', kind: 'Job', base: { spec: { template } }, label: 'job-indexed' }).statuses({
    indexes: [{ completedIndexes: '0,2-3', failedIndexes: '1' }, { completedIndexes: '5' }, { completedIndexes: '3,1' }, { failedIndexes: 'a' }, { completedIndexes: '0-2', failedIndexes: '2-3' }],
  }, { from: { ...indexed, 'spec.backoffLimitPerIndex': 1 } }),
  moves('from-complete', 'a completed job stays so', {}, complete, { conditions: [] }, { conditions: [condition('SuccessCriteriaMet'), condition('Complete', 'False')] }, { completionTime: t(3) }, { completionTime: null }, { startTime: t(0) }, { startTime: null }, { succeeded: 0 }),
  moves('from-failed', 'a failed job stays so', {}, failed, { conditions: [condition('FailureTarget')] }, { conditions: [condition('Failed')] }, { failed: 0 }, { active: 1 }),
  moves('from-running', 'what may change while it runs', {}, { active: 2, ready: 1, startTime: t(1), succeeded: 2, failed: 2 }, { startTime: null }, { startTime: t(5) }, { succeeded: 1 }, { failed: 1 }, { active: 0 }, { active: 0, ready: 0 }),
  moves('from-criteria-met', 'met success criteria stay met', {}, { startTime: t(1), conditions: [condition('SuccessCriteriaMet')] }, { conditions: [] }),
  moves('indexed-scaled-down', 'the succeeded counter of an elastic indexed job may fall', { ...indexed, 'spec.parallelism': 5 }, { startTime: t(1), succeeded: 2, completedIndexes: '0-1' }, { succeeded: 1, completedIndexes: '0' }),

  // CronJob
  ...cronjob.creates({
    minimal: {},
    maximal: { 'metadata.labels': { l: 'v' }, spec: {
      schedule: '0 3 * * 1-5', timeZone: 'Europe/Berlin', startingDeadlineSeconds: 200, concurrencyPolicy: 'Forbid', suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0,
      jobTemplate: { metadata: { labels: { j: 'l' }, annotations: { j: 'a' } }, spec: { parallelism: 2, completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1, suspend: true, manualSelector: false, podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] }] }, template: { metadata: { labels: { p: 'l' } }, spec: podSpec } } } } },
    'every-job-field': { 'spec.jobTemplate.spec': {
      activeDeadlineSeconds: 9, backoffLimit: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 1, completionMode: 'Indexed', completions: 3, ttlSecondsAfterFinished: 7, podReplacementPolicy: 'Failed', managedBy: 'example.com/c',
      podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { containerName: 'c', operator: 'In', values: [2] } }] }, successPolicy: { rules: [{ succeededIndexes: '0', succeededCount: 1 }] }, template } },
    'empty-failure-policy': { 'spec.jobTemplate.spec.podFailurePolicy': { rules: [] } },
  }),
  ...cronjob.accepts({
    schedule: ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually', '@every 1h30m', '? * * * ?', '0 0 1,15 JAN-MAR SUN', '*/15 0-23/2 * * *', '  0   0 * * *  '].map((schedule) => ({ 'spec.schedule': schedule })),
    'time-zone': ['UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'EST5EDT'].map((timeZone) => ({ 'spec.timeZone': timeZone })),
    'concurrency-policy': ['Allow', 'Replace'].map((v) => ({ 'spec.concurrencyPolicy': v })),
    'name-not-a-label': { 'metadata.name': 'a.b' },
    'job-template-labels': { 'spec.jobTemplate.metadata': { labels: { a: 'bad value' } } },
    'job-label-conflict': { 'spec.jobTemplate.spec.template.metadata': { labels: { 'job-name': 'x' } } },
  }),
  ...cronjob.refuses({
    name: [{ 'metadata.name': 'a'.repeat(53) }, { 'metadata.name': 'A' }],
    schedule: [undefined, '', '* * * *', '* * * * * *', '61 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 7', '5-1 * * * *', '*/0 * * * *', 'x * * * *'].map((schedule) => ({ 'spec.schedule': schedule })),
    'schedule-descriptors': ['@often', '@every', '@every 1x', '@reboot', '1-2-3 * * * *', '1/2/3 * * * *'].map((schedule) => ({ 'spec.schedule': schedule })),
    'schedule-with-time-zone': ['TZ=UTC 0 0 * * *', 'CRON_TZ=Europe/Berlin 0 0 * * *', 'TZ=Nowhere 0 0 * * *'].map((schedule) => ({ 'spec.schedule': schedule })),
    'time-zone': ['', 'Nowhere/Land', 'Local', 'local', '../etc/passwd', '-x', 'Europe//Berlin', 'Europe/Berlin ', 'a'.repeat(15), 'europe/berlin'].map((timeZone) => ({ 'spec.timeZone': timeZone })),
    'time-zone-with-schedule': { 'spec.schedule': 'TZ=UTC 0 0 * * *', 'spec.timeZone': 'UTC' },
    'starting-deadline': { 'spec.startingDeadlineSeconds': -1 },
    'concurrency-policy': { 'spec.concurrencyPolicy': 'Maybe' },
    'history-limits': [{ 'spec.successfulJobsHistoryLimit': -1 }, { 'spec.failedJobsHistoryLimit': -1 }],
    'job-selector': [{ 'spec.jobTemplate.spec.selector': { matchLabels: { a: 'b' } } }, { 'spec.jobTemplate.spec.manualSelector': true }],
    'job-template': [{ 'spec.jobTemplate': undefined }, { 'spec.jobTemplate.spec.parallelism': -1 }, { 'spec.jobTemplate.spec.completionMode': 'Indexed' }, { 'spec.jobTemplate.spec.template.spec.restartPolicy': 'Always' }],
    'failure-policy-status-not-defaulted': { 'spec.jobTemplate.spec.podFailurePolicy': { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] } },
  }),
  ...cronjob.updates({
    schedule: [{ spec: { schedule: '@daily' } }, { spec: { schedule: 'TZ=UTC 0 0 * * *' } }, { spec: { schedule: null } }, { spec: { timeZone: 'Nowhere' } }, { spec: { timeZone: 'UTC' } }],
    'job-template': [{ spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } } } }, { spec: { jobTemplate: { spec: { completions: -2 } } } }],
    'defaulted-fields': { spec: { suspend: null, concurrencyPolicy: null, successfulJobsHistoryLimit: null, failedJobsHistoryLimit: null } },
  }, { from: { 'spec.suspend': true, 'spec.concurrencyPolicy': 'Forbid', 'spec.successfulJobsHistoryLimit': 7, 'spec.failedJobsHistoryLimit': 7 } }),
  ...cronjob.statuses({
    any: [{ active: [{ kind: 'Job', namespace: 'n', name: 'j', uid: 'u', apiVersion: 'batch/v1', resourceVersion: '1', fieldPath: 'f' }], lastScheduleTime: t(1), lastSuccessfulTime: t(2) }, { active: [{}] }],
  }),
  ...cronjob.puts(),
  ...cronjob.strategy({ status: { lastScheduleTime: t(1) }, spec: { spec: { suspend: true } } }),
];
