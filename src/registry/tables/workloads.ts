/** Tables of workloads. */
import { fieldsOf, itemsOf, type KubeObject, numberOf, textOf } from '../../api/object.ts'
import { ageOf, type Cell, durationText, type TableKind } from '../../api/table.ts'
import { autoscalerTable } from './autoscalers.ts'
import {
  containerColumns,
  createdAgo,
  hasCondition,
  nameOf,
  orNone,
  printLabels,
  printSelector,
  shownOf,
  specOf,
  statusOf,
  table,
} from './columns.ts'

const deployments = table(
  'Name | Ready | Up-to-date | Available | Age | Containers* | Images* | Selector*',
  (object) => {
    const { replicas, template, selector } = specOf(object)
    const status = statusOf(object)
    return [
      nameOf(object),
      `${numberOf(status['readyReplicas'])}/${numberOf(replicas)}`,
      numberOf(status['updatedReplicas']),
      numberOf(status['availableReplicas']),
      createdAgo(object),
      ...containerColumns(template),
      printSelector(selector),
    ]
  },
)

const replicas = (printed: (selector: KubeObject[string]) => string): TableKind =>
  table(
    'Name | Desired:integer | Current:integer | Ready:integer | Age | Containers* | Images* | Selector*',
    (object) => {
      const spec = specOf(object)
      const status = statusOf(object)
      return [
        nameOf(object),
        numberOf(spec['replicas']),
        numberOf(status['replicas']),
        numberOf(status['readyReplicas']),
        createdAgo(object),
        ...containerColumns(spec['template']),
        printed(spec['selector']),
      ]
    },
  )

const daemonSets = table(
  'Name | Desired:integer | Current:integer | Ready:integer | Up-to-date:integer | Available:integer | Node Selector | Age | Containers* | Images* | Selector*',
  (object) => {
    const { template, selector } = specOf(object)
    const status = statusOf(object)
    return [
      nameOf(object),
      numberOf(status['desiredNumberScheduled']),
      numberOf(status['currentNumberScheduled']),
      numberOf(status['numberReady']),
      numberOf(status['updatedNumberScheduled']),
      numberOf(status['numberAvailable']),
      printLabels(fieldsOf(fieldsOf(template)['spec'])['nodeSelector']),
      createdAgo(object),
      ...containerColumns(template),
      printSelector(selector),
    ]
  },
)

const statefulSets = table('Name | Ready | Age | Containers* | Images*', (object) => {
  const { replicas: wanted, template } = specOf(object)
  const { readyReplicas } = statusOf(object)
  return [
    nameOf(object),
    `${numberOf(readyReplicas)}/${numberOf(wanted)}`,
    createdAgo(object),
    ...containerColumns(template),
  ]
})

const jobs = table(
  'Name | Status | Completions | Duration | Age | Containers* | Images* | Selector*',
  (object) => {
    const { template, selector } = specOf(object)
    return [
      nameOf(object),
      jobState(object),
      jobCompletions(object),
      jobDuration(object),
      createdAgo(object),
      ...containerColumns(template),
      printSelector(selector),
    ]
  },
)

function jobState(job: KubeObject): string {
  const { conditions } = statusOf(job)
  if (hasCondition(conditions, 'Complete')) return 'Complete'
  if (hasCondition(conditions, 'Failed')) return 'Failed'
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (hasCondition(conditions, 'Suspended')) return 'Suspended'
  if (hasCondition(conditions, 'FailureTarget')) return 'FailureTarget'
  return hasCondition(conditions, 'SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running'
}

function jobCompletions(job: KubeObject): string {
  const { completions, parallelism } = specOf(job)
  const done = numberOf(statusOf(job)['succeeded'])
  if (completions !== undefined) return `${done}/${numberOf(completions)}`
  return numberOf(parallelism) > 1 ? `${done}/1 of ${numberOf(parallelism)}` : `${done}/1`
}

function jobDuration(job: KubeObject): Cell {
  const { startTime, completionTime } = statusOf(job)
  if (startTime === undefined) return ''
  if (completionTime === undefined) return ageOf(startTime)
  return durationText(Date.parse(textOf(completionTime)) - Date.parse(textOf(startTime)))
}

const cronJobs = table(
  'Name | Schedule | Timezone | Suspend:boolean | Active:integer | Last Schedule | Age | Containers* | Images* | Selector*',
  (object) => {
    const { schedule, timeZone, suspend, jobTemplate } = specOf(object)
    const { active, lastScheduleTime } = statusOf(object)
    const { template, selector } = fieldsOf(fieldsOf(jobTemplate)['spec'])
    return [
      nameOf(object),
      textOf(schedule),
      orNone(textOf(timeZone)),
      suspend === true ? 'True' : 'False',
      itemsOf(active).length,
      lastScheduleTime === undefined ? '<none>' : ageOf(lastScheduleTime),
      createdAgo(object),
      ...containerColumns(template),
      printSelector(selector),
    ]
  },
)

const controllerRevisions = table('Name | Controller | Revision | Age', (object) => [
  nameOf(object),
  controllerOf(object),
  numberOf(object['revision']),
  createdAgo(object),
])

function controllerOf({ metadata }: KubeObject): string {
  const owner = itemsOf(metadata['ownerReferences']).find((one) => one['controller'] === true)
  if (owner === undefined) return '<none>'
  const [group = ''] = textOf(owner['apiVersion']).includes('/')
    ? textOf(owner['apiVersion']).split('/')
    : []
  const kind = textOf(owner['kind']).toLowerCase()
  return `${group === '' ? kind : `${kind}.${group}`}/${textOf(owner['name'])}`
}

const podTemplates = table('Name | Containers | Images | Pod Labels', (object) => {
  const { template } = object
  return [
    nameOf(object),
    ...containerColumns(template),
    printLabels(fieldsOf(fieldsOf(template)['metadata'])['labels']),
  ]
})

const disruptionBudgets = table(
  'Name | Min Available | Max Unavailable | Allowed Disruptions:integer | Age',
  (object) => {
    const { minAvailable, maxUnavailable } = specOf(object)
    return [
      nameOf(object),
      minAvailable === undefined ? 'N/A' : shownOf(minAvailable),
      maxUnavailable === undefined ? 'N/A' : shownOf(maxUnavailable),
      numberOf(statusOf(object)['disruptionsAllowed']),
      createdAgo(object),
    ]
  },
)

const scale = table('Name | Desired:integer | Available:integer | Age', (object) => [
  nameOf(object),
  numberOf(specOf(object)['replicas']),
  numberOf(statusOf(object)['replicas']),
  createdAgo(object),
])

/** Table of Scales. As in kube-apiserver, the Name column does not have the `name` format. */
export const scaleTable: TableKind = {
  ...scale,
  columns: scale.columns.map((column) => ({ ...column, format: '' })),
}

export const workloadTables: readonly (readonly [string, TableKind])[] = [
  ['Deployment.apps', deployments],
  ['ReplicaSet.apps', replicas(printSelector)],
  ['ReplicationController', replicas(printLabels)],
  ['DaemonSet.apps', daemonSets],
  ['StatefulSet.apps', statefulSets],
  ['ControllerRevision.apps', controllerRevisions],
  ['Job.batch', jobs],
  ['CronJob.batch', cronJobs],
  ['PodTemplate', podTemplates],
  ['PodDisruptionBudget.policy', disruptionBudgets],
  ['HorizontalPodAutoscaler.autoscaling', autoscalerTable],
]
