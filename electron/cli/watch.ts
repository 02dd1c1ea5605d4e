/** `sluice watch CLUSTER`: the jobs of a cluster as they go, through the same contract as any window. */
import { createRouterClient } from '@orpc/server'
import { Command } from 'commander'
import type { JobsFrame } from '#core/api/frames.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { jsonText, line, plain } from './output.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { addClustersFlags, flagsOf } from './clusters-flags.ts'
import { isHopeless, openCluster, stopOpening, worstOf, type OpenCluster } from './live.ts'

interface WatchOptions {
  readonly json?: true
  readonly for?: number
  readonly scenario?: string
}

type Missing = ReturnType<OpenCluster['missing']>

/** One line a sample. */
function sampleLine(monitor: ClusterMonitor, f: JobsFrame, missing: Missing): string {
  const { rows } = f
  const { targets } = monitor.recent.raw
  const at = (name: string, column: number): number | null => {
    const v = targets.value(name, column, f.sample)
    return Number.isNaN(v) ? null : v
  }
  return jsonText({
    t: f.atMs === null ? null : f.atMs / 1000,
    source: monitor.source.kind,
    /** Servers that are not in this sample: sums over the others are lower bounds. */
    ...(missing.length === 0 ? {} : { partial: true, missing }),
    targets: Object.fromEntries(
      monitor.targets.map((t) => [t.target, { node: t.node, rate: at(t.target, 0), service_ms: at(t.target, 1) }]),
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

function table({ source }: ClusterMonitor, f: JobsFrame, missing: Missing): string {
  const time = f.atMs === null ? '' : new Date(f.atMs).toISOString().slice(11, 21)
  const atLeast = missing.length === 0 ? '' : '>= '
  const head = `${source.kind} ${source.cluster}  ${time}  ${atLeast}${Math.round(f.totals.rpcs)} RPC/s  Ctrl-C ends`
  const silent = missing.map((m) => `missing: ${m.host}, ${m.reason}`.slice(0, 160))
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
  return [head, ...silent, columns, ...rows].join('\n')
}

/** @returns  the code to end with. */
async function follow(cluster: OpenCluster, options: WatchOptions): Promise<number> {
  const { host } = cluster
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
    if (isHopeless(cluster)) break
    const { monitor } = host
    // Between two connections of a live cluster the emulator stands on the screen: none of its samples is this cluster's.
    if (f.sample === 0 || monitor !== cluster.console.monitor) continue
    const missing = cluster.missing()
    if (options.json) line(sampleLine(monitor, f, missing))
    else
      process.stdout.write(
        `${onTerminal ? '\x1b[H\x1b[2J' : ''}${table(monitor, f, missing)}\n${onTerminal ? '' : '\n'}`,
      )
  }
  return worstOf(cluster)
}

async function watch(name: string, options: WatchOptions, command: Command): Promise<void> {
  const opened = await openCluster(name, flagsOf(command), {
    comesBack: true,
    scenarioFile: options.scenario === undefined ? undefined : scenarioFile(options.scenario),
  })
  if (!opened.ok) return stopOpening(opened.error, options.json)
  process.exitCode = await follow(opened.value, options)
  await opened.value.close()
}

export function watchCommand(): Command {
  return addClustersFlags(new Command('watch'))
    .description('show the jobs of a cluster as they go')
    .argument('<cluster>', 'a cluster of --config or of the data folder, or emulator: the built-in one')
    .option('--json', 'one JSON line a sample instead of a table')
    .option('--for <s>', 'end after so many seconds', seconds)
    .option('--scenario <file>', 'what the emulator plays')
    .action(watch)
}
