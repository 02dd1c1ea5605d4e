/** Bundle source of the active view: a monitored cluster, a recording, or an open bundle. */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import type { Incident } from '#core/snapshot/notebook.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { FileReader } from '../../history/file-reader.ts'
import { openChecked, type CheckedFile } from '../../history/open-recording.ts'
import type { SourceFile } from '../../incidents/shelf/source-spec.ts'
import { storedSlice, liveSlice } from '../../incidents/bundle/audit-slices.ts'
import type { BundleSource, RawReading } from '../../incidents/bundle/bundle-source.ts'
import type { Console } from '../console.ts'
import { Playback } from '../history/playback.ts'
import type { ActiveView } from '../active-view.ts'

export interface ScreenSource extends BundleSource {
  /** File for a separate connection; undefined: it is in memory. */
  readonly file: SourceFile | undefined
  /** Releases the connection, if it was opened for this. */
  end(): void
}

export interface ScreenParts {
  readonly onScreen: ActiveView
  readonly store: EnforcementStore | undefined
  /** Raw readings that are still available. */
  readonly readings: (fromMs: number, toMs: number) => readonly RawReading[]
}

/** Failures: those of a recording that can no longer be opened. */
export function screenSource(parts: ScreenParts): Result<ScreenSource> {
  const { playback } = parts.onScreen
  if (!(playback instanceof Playback) || playback.file === null) return ok(watched(parts))
  const { bundle, checked } = playback.from
  // With the colors it was opened with: the same content is exported again.
  if (bundle) return ok({ ...bundle.opened, file: { checked: bundle.opened.recording.checked }, end: () => undefined })
  const colors = playback.viewed.jobs.jobColors.entries()
  return checked ? recording(parts.onScreen.console, checked, colors) : fail(NOT_READ)
}

function watched({ onScreen, store, readings }: ScreenParts): ScreenSource {
  const { console } = onScreen
  const { monitor, facts } = console
  const { source, history } = monitor
  const db = history.connection()
  return {
    db,
    cluster: history.cluster,
    isRedacted: false,
    notebook: null,
    colors: monitor.jobs.jobColors.entries(),
    readings,
    source: {
      kind: source.kind,
      cluster: source.cluster,
      env: facts.env,
      scenario: facts.scenario ?? null,
      seed: facts.seed ?? null,
      releases: monitor.allServers.flatMap((server) => {
        const release = monitor.reading(server)?.version?.text
        return release === undefined ? [] : [{ server, release: release.slice(0, 64) }]
      }),
    },
    audit: (fromMs, toMs) => {
      if (source.kind === 'EMULATED') return storedSlice(db, 'EMULATED', { fromMs, toMs })
      const of = console.store ?? store
      return of ? liveSlice(of.chain, source.cluster, { fromMs, toMs }) : null
    },
    file: history.file === ':memory:' ? undefined : { shared: history.file },
    end: () => undefined,
  }
}

const NOT_READ: Failure = { code: 'NO_RECORDINGS', what: 'The recording cannot be read', next: 'Open it again.' }

function recording(
  { monitor, facts }: Console,
  checked: CheckedFile,
  colors: NonNullable<BundleSource['colors']>,
): Result<ScreenSource> {
  const opened = openChecked(checked)
  if (!opened.ok) return opened
  const { db } = opened.value
  const of = checked.clusters.at(-1)
  const kind: Manifest['source']['kind'] = of?.kind === 'LIVE' ? 'LIVE' : 'EMULATED'
  const cluster = of?.name ?? ''
  return ok({
    db,
    cluster: of?.id ?? 0,
    isRedacted: false,
    notebook: null,
    colors,
    readings: () => [],
    // The environment of another cluster is unknown; the author of a scenario is not kept.
    source: { kind, cluster, env: cluster === monitor.source.cluster ? facts.env : 'DEV', ...NOT_RECORDED },
    audit: (fromMs, toMs) => storedSlice(db, kind, { fromMs, toMs }),
    file: { checked },
    end: () => void db.close(),
  })
}

const NOT_RECORDED = { scenario: null, seed: null, releases: [] } as const satisfies Partial<Manifest['source']>

export const readerOf = (of: BundleSource): FileReader =>
  new FileReader(of.db, of.cluster, { name: of.source.cluster, isOwner: false })

/** Notebook to export with a bundle. Failures: INCIDENT_GONE, INCIDENT_OTHER. */
export function notebookFor(
  id: string | null,
  source: BundleSource,
  find: (id: string) => Incident | undefined,
): Result<Incident | null> {
  if (id === null) return ok(null)
  if (source.notebook?.id === id) return ok(source.notebook)
  if (source.isRedacted) {
    return fail({
      code: 'INCIDENT_OTHER',
      what: 'The bundle was not written',
      why: 'the open bundle is redacted, and this notebook is not',
      unaffected: 'The notebook and the open bundle are unchanged.',
      next: 'Export the bundle with its own notebook, or return to the source.',
    })
  }
  const incident = find(id)
  if (incident && incident.source.cluster !== source.source.cluster) {
    return fail({
      code: 'INCIDENT_OTHER',
      what: 'The bundle was not written',
      why: `${id} belongs to ${incident.source.cluster}; the active cluster is ${source.source.cluster}`,
      unaffected: 'The incident is unchanged.',
      next: 'Switch to its cluster first, or export samples without a notebook.',
    })
  }
  return incident
    ? ok(incident)
    : fail({
        code: 'INCIDENT_GONE',
        what: 'The bundle was not written',
        why: `there is no ${id}`,
        next: 'Choose another incident.',
      })
}
