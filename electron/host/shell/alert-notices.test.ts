/** Alert while the window has no focus: a notification, and its link to the incident that it opened. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { fakeShell } from '../../../tests/node/fake-shell.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'

const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
/** Three servers, one of which is silent for a while, and a quiet job. */
const SCENARIO = {
  title: 'Three servers',
  cluster: 'three',
  clients: { count: 1 },
  oss: [1, 2, 3].map((n) => ({ name: `oss0${n}`, osts: [{ name: `three-OST000${n}`, disk }] })),
  control: { controller: 'none', mode: 'observe', max_rate: 200, period_ms: 1000 },
  faults: [{ what: 'server-silent', server: 'oss02', at_s: 40, for_s: 25 }],
  jobs: [{ id: '1.quiet.u1', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 2 } }],
}

let host: Host
afterEach(() => host.close())

async function run(isFocused: boolean) {
  const scenarioFile = join(tempFolder(), 'three.yaml')
  writeFileSync(scenarioFile, JSON.stringify(SCENARIO))
  const around = fakeShell()
  const opened = await openHost({
    shell: 'desktop',
    historyFile: join(tempFolder(), 's.sqlite'),
    paced: false,
    epochSeconds: 1_767_225_600,
    scenarioFile,
    around: around.shell,
  })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  around.tell({ kind: 'focus', isFocused })
  await host.source.runTo(58 * NS_PER_S, (atNs) => host.monitor.tick(atNs))
  return around
}

it('is told once, and leads to its incident', async () => {
  const { seen, tell } = await run(false)
  expect(seen.notices).toHaveLength(1)
  expect(seen.notices[0]).toMatchObject({ title: 'Critical: three', body: expect.stringContaining('oss02') as string })
  const { id } = seen.notices[0] ?? { id: '' }
  const events = await createRouterClient(host.router, { context: { peer: 'w' } }).shell.events()
  tell({ kind: 'notification', id: 'alert-of-somebody-else' })
  tell({ kind: 'notification', id })
  const incident = host.incidents.alerts.incidentOf('three', id)
  expect(incident).toMatch(/^INC-|^EX/)
  expect((await events.next()).value).toEqual({ kind: 'alert', id, incident })
  await events.return()
})

it('is not told to who looks at it', async () => {
  expect((await run(true)).seen.notices).toEqual([])
})
