/**
 * Records discovery, /version and the enabled feature gates of kube-apiserver with an older
 * `--emulated-version`: `node test/recorded/emulation/record.ts --reference`. `emulation.test.ts`
 * compares Keelson with the recording.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { runs } from './runs.ts'
import { servedOf } from './served.ts'

if (!process.argv.includes('--reference')) {
  console.error('add --reference to confirm: this starts kube-apiserver')
  process.exit(1)
}
const recorded: Record<string, unknown> = {}
for (const [name, args] of Object.entries(runs)) {
  await using etcd = await startEtcd()
  await using server = await startReference({ etcdUrl: etcd.clientUrl, args })
  recorded[name] = await servedOf(server.url)
  console.log(name)
}
writeFileSync(join(import.meta.dirname, 'recorded.json'), `${JSON.stringify(recorded, null, 1)}\n`)
