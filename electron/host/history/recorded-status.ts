/** What the frame of the window shows while something recorded is on screen: what it is of, and how far it reaches. */
import type { StatusFrame } from '#core/api/frames.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import type { Console } from '../console.ts'
import { adaptbfStatus } from '../views/adaptbf.ts'
import { rulesKnownAt, stand } from '../position.ts'
import { toNotice } from '../views/status.ts'
import type { PlayedBundle } from './played-bundle.ts'

/** Servers with none of their targets measured at a sample. */
function missingAt(viewed: RecordedCluster, sample: number, atMs: number | null): StatusFrame['nodes']['missing'] {
  if (sample === 0 || atMs === null) return []
  const { targets } = viewed.recent.raw
  const isMeasured = (node: string): boolean =>
    viewed.targets.some((t) => t.node === node && !Number.isNaN(targets.value(t.target, 0, sample)))
  return viewed.servers
    .filter((node) => !isMeasured(node))
    .map((host) => ({ host, reason: 'not measured at this instant', sinceMs: atMs }))
}

/** @param of  name of the recording or the bundle; null for the store of the source. */
export function recordedStatus(
  console: Console,
  viewed: RecordedCluster,
  of: { readonly file: string | null; readonly bundle?: PlayedBundle | undefined },
  query: { at: number | null },
  seq: number,
): StatusFrame {
  const { monitor, facts, ruleService } = console
  const { file, bundle } = of
  const { sample, atMs } = stand(viewed, query.at)
  const redacted = bundle?.opened.isRedacted ?? false
  const missing = missingAt(viewed, sample, atMs)
  const isOwn = viewed.source.cluster === monitor.source.cluster
  const failures = [monitor.history.notice, ...monitor.failures].filter((f) => f !== undefined)
  return {
    seq,
    sample,
    atMs,
    source: {
      kind: 'RECORDED',
      cluster: viewed.source.cluster,
      // Of a cluster that is not the one on screen nobody here says what it is.
      env: bundle?.env ?? (isOwn ? facts.env : 'DEV'),
      sinceMs: viewed.fromMs,
    },
    oldest: Math.min(1, viewed.sample),
    clock: { speed: 0, achieved: 0, intervalMs: viewed.tier.stepMs, sampleAgeMs: null },
    mode: 'observe',
    safeMode: facts.safeMode(),
    unlockedUntilMs: null,
    nextExpiry: null,
    controller: 'none',
    adaptbf: { ...adaptbfStatus(monitor), maxRates: [] },
    cycle: null,
    nodes: { total: viewed.servers.length, reporting: viewed.servers.length - missing.length, missing },
    counts: {
      jobs: atMs === null ? 0 : viewed.jobs.known(atMs).jobs.length,
      targets: viewed.targets.length,
      rules: rulesKnownAt(viewed, sample),
    },
    cost: { bytesPerSec: monitor.cost.bytesPerSec, serverMsPerSec: monitor.cost.serverMsPerSec },
    audit: monitor.audit.number,
    staged: ruleService.staged.count,
    history: {
      recording: monitor.isRecording,
      ...(monitor.history.file === ':memory:' ? {} : { file: monitor.history.file }),
    },
    playback: {
      file,
      ...(bundle ? { bundle: { title: bundle.title, env: bundle.env, redacted, verified: bundle.verified } } : {}),
      ...{ tier: viewed.tierId, fromMs: viewed.fromMs, toMs: viewed.toMs },
    },
    notices: failures.map(toNotice),
  }
}
