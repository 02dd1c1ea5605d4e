import { expect, it } from 'vitest'
import { emulatedCluster, twoJobs } from '../../tests/node/emulated-cluster.ts'
import { periodLine, periodText } from './control-lines.ts'

it('advise prints commands that an operator can paste on the server named above them', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'static', mode: 'advise' })
  await c.run(3)
  const lines = periodText(c.monitor, []).split('\n')
  const of = (host: string): string[] => {
    const from = lines.findIndex((l) => l.startsWith(`  ${host}, plan of `)) + 1
    const to = lines.findIndex((l, i) => i >= from && !l.startsWith('    '))
    return lines.slice(from, to < 0 ? undefined : to).map((l) => l.trim())
  }
  expect(of('oss01').length).toBeGreaterThan(0)
  for (const command of of('oss01')) {
    expect(c.source.emulator.node('oss01')?.exec(command)).toMatchObject({ code: 0, stderr: '' })
  }
  expect(c.rules('oss01')).toMatch(/^st_[0-9a-f]{10} .*1\.hog\.u1/m)
  expect(c.rules('oss02')).not.toContain('st_')
  // The JSON line has the same plan.
  const line = periodLine(c.monitor, []) as { rules: { plan?: { commands: string[] } }[] }
  expect(line.rules[0]?.plan?.commands[0]).toMatch(/start st_/)
})

it('a controller that enforces prints one line a period', async () => {
  const c = emulatedCluster(twoJobs(), { controller: 'static', mode: 'enforce' })
  await c.run(3)
  expect(periodText(c.monitor, []).split('\n')).toHaveLength(1)
})
