/** `sluice watch CLUSTER`: the jobs of a cluster as they go, through the same contract as any window. */
import { createRouterClient } from '@orpc/server'
import { Command } from 'commander'
import type { JobsFrame } from '#core/api/frames.ts'
import { openHost, type Host } from '../host/host.ts'
import { line, must, plain, stop } from './output.ts'
import { scenarioFile, seconds } from './run.ts'

interface WatchOptions {
  readonly json?: true
  readonly for?: number
  readonly scenario?: string
}

/** One line a sample. */
function sampleLine(host: Host, f: JobsFrame): string {
  const { rows } = f
  const { targets } = host.monitor.recent.raw
  const at = (name: string, column: number): number | null => {
    const v = targets.value(name, column, f.sample)
    return Number.isNaN(v) ? null : v
  }
  return JSON.stringify({
    t: f.atMs === null ? null : f.atMs / 1000,
    source: host.source.kind,
    targets: Object.fromEntries(
      host.monitor.targets.map((t) => [t.target, { node: t.node, rate: at(t.target, 0), service_ms: at(t.target, 1) }]),
    ),
    /** All jobs known; `jobs` holds the 200 with the highest rates. */
    jobs_total: f.shown,
    jobs: rows.jobId.map((job_id, i) => ({
      job_id,
      rate: rows.rpcs[i],
      read_bps: rows.readBps[i],
      write_bps: rows.writeBps[i],
      ...(rows.record[i] === null ? {} : { record: rows.record[i] }),
      ...(rows.rule[i] === 'default' ? {} : { rule: rows.rule[i] }),
    })),
  })
}

function table(host: Host, f: JobsFrame): string {
  const time = f.atMs === null ? '' : new Date(f.atMs).toISOString().slice(11, 21)
  const head = `${host.source.kind} ${host.source.cluster}  ${time}  ${Math.round(f.totals.rpcs)} RPC/s  Ctrl-C ends`
  const columns = `${'job'.padEnd(32)}${'RPC/s'.padStart(9)}${'read MB/s'.padStart(11)}${'write MB/s'.padStart(12)}${'thr %'.padStart(7)}${'record'.padStart(9)}  rule`
  const rows = f.rows.jobId.map((id, i) => {
    const cell = (v: number, width: number, digits = 0): string => v.toFixed(digits).padStart(width)
    const record = f.rows.record[i]
    return (
      plain(id).padEnd(32) +
      cell(f.rows.rpcs[i] ?? 0, 9) +
      cell((f.rows.readBps[i] ?? 0) / 1e6, 11, 1) +
      cell((f.rows.writeBps[i] ?? 0) / 1e6, 12, 1) +
      cell((f.rows.throttled[i] ?? 0) * 100, 7) +
      (record === null || record === undefined ? '' : String(record)).padStart(9) +
      `  ${plain(f.rows.rule[i] ?? '')}`
    )
  })
  return [head, columns, ...rows].join('\n')
}

async function watch(options: WatchOptions): Promise<void> {
  const host = must(
    await openHost({
      shell: 'terminal',
      historyFile: ':memory:',
      scenarioFile: options.scenario === undefined ? undefined : scenarioFile(options.scenario),
    }),
  )
  const client = createRouterClient(host.router, { context: { peer: 'terminal' } })
  const ended = new AbortController()
  if (options.for !== undefined) setTimeout(() => ended.abort(), options.for * 1000)
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.once(s, () => ended.abort())
  const stream = 'watch'
  const query = { stream, hz: options.json ? 10 : 2, windowMs: 10_000, limit: options.json ? 200 : 40 }
  const onTerminal = process.stdout.isTTY
  const frames = await client.views.jobs(query, { signal: ended.signal })
  for await (const f of frames) {
    if (ended.signal.aborted) break
    await client.host.ack({ stream, seq: f.seq })
    if (f.sample === 0) continue
    if (options.json) line(sampleLine(host, f))
    else process.stdout.write(`${onTerminal ? '\x1b[H\x1b[2J' : ''}${table(host, f)}\n${onTerminal ? '' : '\n'}`)
  }
  await host.close()
}

export function watchCommand(): Command {
  return new Command('watch')
    .description('show the jobs of a cluster as they go')
    .argument('<cluster>', 'emulator: the built-in one')
    .option('--json', 'one JSON line a sample instead of a table')
    .option('--for <s>', 'end after so many seconds', seconds)
    .option('--scenario <file>', 'what the emulator plays')
    .action(async (cluster: string, options: WatchOptions) => {
      if (cluster !== 'emulator') {
        stop({ code: 'UNKNOWN_CLUSTER', what: `There is no cluster called ${cluster}`, next: 'Known: emulator.' }, 2)
      }
      await watch(options)
    })
}
