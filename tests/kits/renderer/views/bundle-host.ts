/** Host of bundles for tests of the window: scripted answers and delays, and a log of requests. */
import { ORPCError } from '@orpc/client'
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import type {
  Alert,
  AlertRuleView,
  BundleRow,
  ExportEvent,
  ExportInput,
  ExportPreview,
  Incident,
  IncidentsFrame,
  VerdictOfBundle,
} from '#core/api/incidents.ts'
import type { Client } from '#renderer/stores/client.ts'
import { useConnectionStore } from '#renderer/stores/connection.ts'
import { useIncidentsStore } from '#renderer/stores/incidents.ts'
import { useSourceStore } from '#renderer/stores/source.ts'

export const FROM = Date.UTC(2026, 10, 19, 14, 27)
export const TO = FROM + 600_000
export const NOW = TO + 31_000
export const HASH = '9c417be0'.padEnd(56, '0') + '22d7a1f5'
export const FOLDER = '/home/mira/.local/share/sluice/bundles'
/** A name with bidirectional controls, and one that would be markup. */
export const TURNED = '4690.\u202Egnp.exe'
export const MARKUP = '<img src=x onerror=alert(1)>'

export const incident = (more: Partial<Incident> = {}): Incident => ({
  format: 1,
  id: 'INC-0042',
  title: 'Write wait \u00D74 from one job on 5 targets',
  status: 'resolved' as const,
  source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null },
  author: 'mira',
  createdMs: FROM,
  changedMs: FROM,
  resolvedMs: TO,
  fromMs: FROM,
  toMs: TO,
  alert: null,
  cells: [{ id: 'c1', atMs: FROM, kind: 'note', text: 'Job 4690.python started on 38 nodes.' }],
  ...more,
})

export const bundleRow = (name: string, more: Partial<BundleRow> = {}): BundleRow => ({
  name,
  bytes: 2_516_582,
  writtenMs: NOW,
  cluster: 'altair',
  title: 'Write wait \u00D74 from one job on 5 targets',
  incident: 'INC-0042',
  fromMs: FROM,
  toMs: TO,
  redacted: true,
  fault: '',
  ...more,
})

export const incidentsFrame = (more: Partial<IncidentsFrame> = {}): IncidentsFrame => ({
  seq: 1,
  sample: 52_320,
  atMs: NOW,
  incidents: [],
  selected: null,
  integrity: null,
  alerts: [],
  bundles: [],
  folder: FOLDER,
  opened: null,
  ...more,
})

export const preview = (more: Partial<ExportPreview> = {}): ExportPreview => ({
  fields: [
    { group: 'history', field: 'samples.job', how: 'pseudonym' },
    { group: 'history', field: 'samples.rpcs', how: 'kept' },
    { group: 'notebook', field: 'cell.text', how: 'names replaced' },
  ],
  never: ['Keys and passphrases', 'Addresses of this console'],
  names: [
    {
      kind: 'job',
      count: 412,
      samples: [
        { from: '4690.python', to: 'job-3f.app-2' },
        { from: TURNED, to: 'job-81.app-9' },
      ],
    },
    { kind: 'user', count: 38, samples: [{ from: 'tkovac', to: 'user-07' }] },
    { kind: 'host', count: 12, samples: [{ from: 'oss02.altair', to: 'oss-b' }] },
    { kind: 'account', count: 0, samples: [] },
  ],
  findings: [{ cell: 'c1', name: '4690.python', to: 'job-3f.app-2' }],
  contents: [
    { group: null, what: 'README.html', bytes: 219_136, left: false },
    { group: null, what: 'manifest.json', bytes: 6_144, left: false },
    { group: 'history', what: 'samples, 600 \u00D7 412 jobs', bytes: 1_992_294, left: false },
    { group: 'rules', what: 'rules before and after', bytes: 4_096, left: false },
    { group: 'audit', what: 'transcript and audit', bytes: 22_528, left: false },
  ],
  bytes: 2_516_582,
  samples: { tier: 'raw', instants: 600 },
  missing: [],
  ...more,
})

export const alertOf = (id: string, more: Partial<Alert> = {}): Alert => ({
  id,
  kind: 'queue',
  level: 'watch',
  text: 'Queued RPCs \u00D76 on 5 targets',
  where: 'OST0003',
  fromMs: FROM,
  endMs: null,
  incident: null,
  ...more,
})
const queue = { kind: 'queue', on: true, threshold: 4, forS: 30, opens: true } as const
export const ruleFace = (more: Partial<AlertRuleView> = {}): AlertRuleView => ({
  ...queue,
  title: 'Queue growth',
  plane: 'data',
  about: 'Queued RPCs of a target against what is usual of it',
  unit: '\u00D7',
  least: 1.5,
  most: 100,
  clear: 0.5,
  holdS: 15,
  usual: queue,
  ...more,
})

export interface BundleHost {
  readonly calls: { verb: string; input: unknown }[]
  previews: ((input: ExportInput) => ExportPreview) | null
  /** If set, `preview` waits until it is called. */
  goOn: (() => void) | null
  holds: boolean
  /** Requests canceled before they were answered. */
  cancelled: number
  events: readonly ExportEvent[]
  /** If set, the export waits before its last event. */
  holdsExport: boolean
  endExport: (() => void) | null
  holdsPut: boolean
  goOnPut: (() => void) | null
  verdict: VerdictOfBundle
  parts: { base64: string; isLast: boolean }[]
  rules: AlertRuleView[]
  /** Refuses the next call of this verb. */
  refuse: { verb: string; notice: Notice } | null
}
export const done: Extract<ExportEvent, { kind: 'done' }> = {
  kind: 'done',
  name: 'INC-0042.zip',
  file: `${FOLDER}/INC-0042.zip`,
  bytes: 2_516_582,
  sha256: HASH,
  content: HASH,
  missing: [],
}
export const notice = (code: string, what: string): Notice => ({
  code,
  what,
  why: 'there is one',
  next: 'Choose another.',
})

export function openBundleHost(): BundleHost {
  const host: BundleHost = {
    calls: [],
    previews: null,
    goOn: null,
    holds: false,
    cancelled: 0,
    holdsExport: false,
    endExport: null,
    holdsPut: false,
    goOnPut: null,
    events: [{ kind: 'progress', what: 'Samples', done: 0.4 }, done],
    verdict: { ok: true, changed: [], manifest: null, sha256: HASH },
    parts: [{ base64: btoa('PK'), isLast: true }],
    rules: [ruleFace()],
    refuse: null,
  }
  const note = (verb: string, input: unknown): void => {
    host.calls.push({ verb, input })
    if (host.refuse?.verb !== verb) return
    const { notice: data } = host.refuse
    host.refuse = null
    throw new ORPCError('REFUSED', { defined: true, message: data.what, data })
  }
  const verb =
    <R>(name: string, answer: () => R) =>
    async (input?: unknown): Promise<R> => {
      note(name, input)
      return answer()
    }
  const incidents = {
    preview: async (input: ExportInput, { signal }: { signal: AbortSignal }) => {
      note('preview', input)
      signal.addEventListener('abort', () => host.cancelled++)
      if (host.holds) await new Promise<void>((resolve) => (host.goOn = resolve))
      return (host.previews ?? (() => preview()))(input)
    },
    export: async (input: ExportInput, { signal }: { signal: AbortSignal }) => {
      note('export', input)
      return (async function* () {
        for (const [i, event] of host.events.entries()) {
          if (host.holdsExport && i === host.events.length - 1)
            await new Promise<void>((resolve) => {
              host.endExport = resolve
              signal.addEventListener('abort', () => resolve())
            })
          if (signal.aborted) throw new Error('aborted')
          yield event
        }
      })()
    },
    markdown: verb('markdown', () => ({ name: 'INC-0042.md', text: '# INC-0042\n\nfirst\n' })),
    read: async (input: unknown) => {
      note('read', input)
      return (async function* () {
        yield* host.parts
      })()
    },
    put: async (input: unknown) => {
      note('put', input)
      if (host.holdsPut) await new Promise<void>((resolve) => (host.goOnPut = resolve))
    },
    verify: verb('verify', () => host.verdict),
    open: verb('open', () => undefined),
    removeBundle: verb('removeBundle', () => undefined),
    change: verb('change', () => undefined),
    alertRules: verb('alertRules', () => ({ rules: host.rules })),
    setAlertRule: verb('setAlertRule', () => undefined),
  }
  const history = { goTo: verb('goTo', () => ({ sample: 1, atMs: FROM })), leave: verb('leave', () => undefined) }
  const api = { host: { ack: async () => undefined }, incidents, history }
  useConnectionStore().opened({ api: api as unknown as Client })
  return host
}

export function showStatus(more: Partial<Record<keyof StatusFrame, unknown>> = {}): void {
  useSourceStore().apply({
    source: { cluster: 'altair', env: 'PROD', kind: 'LIVE', sinceMs: 0 },
    atMs: NOW,
    sample: 52_320,
    oldest: 1,
    staged: 0,
    mode: 'observe',
    clock: { intervalMs: 1000, speed: 1, achieved: 1 },
    notices: [],
    seq: 1,
    history: { recording: true },
    audit: 18_231,
    controller: 'none',
    safeMode: 'review',
    ...more,
  } as unknown as StatusFrame)
}
/** Shows a notebook, or none, on the page. */
export function showFrame(frame: IncidentsFrame = incidentsFrame()): void {
  useIncidentsStore().apply(frame)
}
