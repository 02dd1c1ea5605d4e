import { it } from 'vitest'
import { parseScenario } from '#core/emulator/scenario.ts'
import { ruleDesk, stage, commit, ends, standing } from './rule-desk.ts'
import { checkDraft } from '#electron/host/rules/check.ts'
it('x', async () => {
  const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
  const read = parseScenario(JSON.stringify({ title: 'Two', cluster: 'mixed', clients: { count: 1 },
      oss: [ { name: 'oss01', version: '2.15.8', cpts: 1, osts: [{ name: 'mixed-OST0000', disk }] }, { name: 'oss02', version: '2.17.57', cpts: 3, osts: [{ name: 'mixed-OST0001', disk }] } ],
      control: { max_rate: 200, period_ms: 500 }, jobs: [ { id: 'x', clients: [1], processes: 1, op: 'write', size_kib: 64, pattern: { kind: 'continuous' } } ] }))
  if (!read.ok) throw new Error(read.error.why)
  const { c, desk: d } = await ruleDesk({}, read.value)
  console.log(JSON.stringify(checkDraft(d, 'ost_io', { text: 'start a jobid={x}&jobid={x y} rate=5' }), null, 1))
  stage(d, 'start a jobid={x}&jobid={x y} rate=5')
  console.log(ends(await commit(d)))
  console.log(standing(c), standing(c, 'oss02'))
  await c.run(6)
  console.log(c.rules('oss01'), c.rules('oss02'))
})
