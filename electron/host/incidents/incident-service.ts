/** Incident service: notebooks, alerts and bundles behind the contract. */
import type { IncidentsFrame, IncidentsQuery } from '#core/api/incidents.ts'
import type { Result } from '#core/base/result.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { ForeignFiles } from '../../foreign/foreign-files.ts'
import type { Console } from '../console.ts'
import type { Changing } from '../frame-pump.ts'
import type { HistoryService } from '../history/history-service.ts'
import type { ActiveView } from '../active-view.ts'
import type { FinishedRun } from '../sandbox/run.ts'
import { AlertService } from './alert-service.ts'
import { BundleService } from './bundle-service.ts'
import { NotebookService } from './notebook-service.ts'
import { NotebookFilter } from './notebook-filter.ts'

export interface IncidentServiceParts {
  readonly onScreen: ActiveView
  readonly history: HistoryService
  readonly foreign: ForeignFiles
  readonly dataDir: string | undefined
  readonly store: EnforcementStore | undefined
  readonly version: string
  readonly run: (id: string | null) => Result<FinishedRun>
  readonly stagedRun: () => Result<FinishedRun>
  /** True if the opening of an alert's incident yields to other tasks. @default false */
  readonly isCooperative?: boolean | undefined
}

export class IncidentService implements Changing {
  readonly notebooks: NotebookService
  readonly alerts: AlertService
  readonly bundles: BundleService
  readonly #onScreen: ActiveView
  readonly #filter: NotebookFilter
  readonly #listeners = new Set<() => void>()
  #turn: number

  constructor(parts: IncidentServiceParts) {
    const { onScreen, dataDir } = parts
    const changed = (): void => this.changed()
    this.#onScreen = onScreen
    this.#turn = onScreen.turn
    this.notebooks = new NotebookService({
      onScreen,
      dataDir,
      changed,
      run: parts.run,
      stagedRun: parts.stagedRun,
      thresholdOf: (kind) => this.alerts.rules().find((r) => r.kind === kind)?.threshold,
    })
    this.#filter = new NotebookFilter((id) => this.notebooks.find(id), changed)
    this.alerts = new AlertService({ dataDir, changed, notebooks: this.notebooks, isCooperative: parts.isCooperative })
    this.bundles = new BundleService({ ...parts, changed, notebooks: this.notebooks })
    // Open items depend on the active source; samples alone change nothing here.
    onScreen.onChange(() => {
      if (onScreen.turn === this.#turn) return
      this.#turn = onScreen.turn
      this.changed()
    })
  }

  /** Watches a source while it runs: its alerts can open incidents. Returns the stop function. */
  watch(console: Console): () => void {
    const forget = this.notebooks.know(console)
    const stop = this.alerts.watch(console)
    return () => {
      stop()
      forget()
    }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  changed(): void {
    for (const l of [...this.#listeners]) l()
  }

  frame(query: IncidentsQuery, seq: number): IncidentsFrame {
    const selected = query.selected === null ? undefined : this.notebooks.find(query.selected)
    const { views } = this.#onScreen
    const { sample, atMs } = views.status({ at: null }, seq)
    const incidents = this.notebooks.list()
    return {
      seq,
      sample,
      atMs,
      incidents,
      ...this.#filter.apply(incidents, query.filter),
      selected: selected ?? null,
      integrity: selected ? this.notebooks.integrityOf(selected) : null,
      alerts: this.alerts.list().slice(0, 100),
      bundles: this.bundles.list(),
      folder: this.bundles.folder,
      opened: this.bundles.opened,
    }
  }

  close(): void {
    this.#filter.close()
    this.notebooks.close()
    this.bundles.close()
  }
}
