import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { emulatedCluster, smallScenario, type Setup } from '../../../tests/node/emulated-cluster.ts'
import { jobColumn } from '../state/recent.ts'
import { readFiltered } from '../probes/job-filter.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const JOBS = 90
// Probe costs are measured in wall time: a minute of samples may take this machine seconds, or many, which would slow
// them down.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Long enough that a busy machine is in time: late readings are tested elsewhere. */
const PERIOD_S = 5
const SAMPLES = 14
const RUN_S = PERIOD_S * (SAMPLES + 1)

/**
 * Ninety jobs of which two remain active after a second, on a live cluster whose servers have the awk of this machine,
 * or none.
 */
function large(awk: 'awk' | 'none' | 'liar', more: Partial<Setup> = {}) {
  const jobs = Array.from({ length: JOBS }, (_, i) => ({
    id: `${1000 + i}.sim.u${i}`,
    clients: [(i % 4) + 1],
    processes: 1,
    pattern: { kind: 'poisson', rate: 40 },
    ...(i < 2 ? {} : { stop_s: 1 }),
  }))
  return emulatedCluster(smallScenario(jobs, { period_ms: PERIOD_S * 1000 }), {
    kind: 'LIVE',
    mode: 'observe',
    around: (node) => ({
      ...node,
      exec: async (command) => {
        const filtered = readFiltered(command)
        if (!filtered) return node.exec(command)
        const ran = await node.exec(filtered.reading)
        if (!ran.ok) return ran
        const answer = ran.value
        if (awk === 'none') return printed('', `${answer.stderr}sh: 1: awk: not found\n`, 127)
        const pipe = command.slice(filtered.reading.length + 3)
        const piped = spawnSync('sh', ['-c', pipe], { input: Buffer.from(answer.stdout, 'latin1') })
        const stdout = piped.stdout.toString('latin1')
        return printed(awk === 'liar' ? stdout.replace(/(sum=\d+ \d+ \d+ )\d/g, '$19') : stdout, answer.stderr)
      },
    }),
    ...more,
  })
}

const rates = (c: ReturnType<typeof large>): number[][] =>
  [...c.monitor.jobs.all]
    .map((j) => j.jobId)
    .sort()
    .map((id) => {
      const { jobs } = c.monitor.recent.raw
      return Array.from({ length: SAMPLES }, (_, s) => Math.round(jobs.value(id, jobColumn('rpcs'), s + 1)))
    })

describe('a live server with a large table', () => {
  it('sends what moved, a tenth of it all, and every rate is as it would be', async () => {
    const cut = large('awk')
    await cut.run(RUN_S)
    const commands = cut.sent.filter((s) => s.command.includes('job_stats'))
    const filtered = commands.filter((s) => readFiltered(s.command))
    expect(filtered.length).toBeGreaterThan(commands.length / 2)
    expect(cut.monitor.probes.find((p) => p.id === 'job_stats')?.note).toBe('')
    // Bytes of the samples since, against those of the whole tables before.
    const plain = emulatedCluster(cut.source.emulator.scenario, { kind: 'EMULATED', mode: 'observe' })
    await plain.run(RUN_S)
    expect(rates(cut)).toEqual(rates(plain))
    const bytes = (c: ReturnType<typeof large>): number => c.monitor.reading('oss01')?.bytes ?? 0
    expect(bytes(cut)).toBeLessThan(bytes(plain) / 5)
    // The text of an idle job exists all the same.
    const entry = cut.monitor.reading('oss01')?.targets[0]
    const still = entry?.entries.find((e) => e.jobId === '1050.sim.u50')
    expect(still && entry?.rawOf(still)).toMatch(/^- job_id: +1050\.sim\.u50\n {2}snapshot_time: /)
  })

  it.each(['none', 'liar'] as const)(
    'is read whole where awk is: %s; nothing is lost, and it is noted',
    async (awk) => {
      const c = large(awk)
      const seen: boolean[] = []
      await c.run(RUN_S, () =>
        seen.push(c.monitor.servers.every((h) => (c.monitor.serviceReading(h, 'ost_io')?.rules.length ?? 0) > 0)),
      )
      const plain = emulatedCluster(c.source.emulator.scenario, { kind: 'EMULATED', mode: 'observe' })
      await plain.run(RUN_S)
      expect(rates(c)).toEqual(rates(plain))
      expect(c.monitor.probes.find((p) => p.id === 'job_stats')?.note).toMatch(
        awk === 'none'
          ? /^read in full on oss0\d: awk timed out; retried in \d+ s$/
          : /^read in full on oss0\d: the filtered job_stats did not add up; retried in 60 s$/,
      )
      // Rules that the same command was to read are not taken for lost.
      expect(c.monitor.events.between(-Infinity, Infinity, 100).filter((e) => e.subject === 'Rule')).toEqual([])
      expect(seen).not.toContain(false)
      // It is not retried endlessly.
      expect(c.sent.filter((s) => readFiltered(s.command)).length).toBeLessThanOrEqual(6)
    },
  )
})
