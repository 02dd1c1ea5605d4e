/** Bundles at the host: written of what is on screen, read back as a recorded source. */
import type {
  BundleRow,
  ExportEvent,
  ExportInput,
  ExportPreview,
  IncidentsFrame,
  VerdictOfBundle,
} from '#core/api/incidents.ts'
import type { Result } from '#core/base/result.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { HistoryDesk } from '../history/desk.ts'
import type { OnScreen } from '../on-screen.ts'
import type { NotebookDesk } from './notebook-desk.ts'
import { notYet } from './not-yet.ts'

export interface BundleDeskParts {
  readonly onScreen: OnScreen
  readonly history: HistoryDesk
  readonly notebooks: NotebookDesk
  readonly dataDir: string | undefined
  /** Audit of live clusters. */
  readonly store: EnforcementStore | undefined
  readonly version: string
  readonly changed: () => void
}

export class BundleDesk {
  readonly parts: BundleDeskParts

  constructor(parts: BundleDeskParts) {
    this.parts = parts
  }

  get folder(): string | null {
    return null
  }

  list(): BundleRow[] {
    return []
  }

  get opened(): IncidentsFrame['opened'] {
    return null
  }

  preview(_input: ExportInput): Promise<Result<ExportPreview>> {
    return Promise.resolve(notYet('There is no preview'))
  }

  export(_input: ExportInput, _signal?: AbortSignal): Result<AsyncGenerator<ExportEvent, void, void>> {
    return notYet('The bundle was not written')
  }

  markdown(_input: ExportInput): Promise<Result<{ name: string; text: string }>> {
    return Promise.resolve(notYet('The report was not written'))
  }

  read(_name: string): Result<AsyncGenerator<{ base64: string; isLast: boolean }, void, void>> {
    return notYet('The bundle was not read')
  }

  put(_part: {
    name: string
    upload: string
    at: number
    base64: string
    isLast: boolean
  }): Promise<Result<undefined>> {
    return Promise.resolve(notYet('The bundle was not taken'))
  }

  verify(_name: string): Promise<Result<VerdictOfBundle>> {
    return Promise.resolve(notYet('The bundle was not verified'))
  }

  open(_name: string): Promise<Result<undefined>> {
    return Promise.resolve(notYet('The bundle was not opened'))
  }

  remove(_name: string): Result<undefined> {
    return notYet('The bundle was not removed')
  }

  close(): void {
    // Nothing is open.
  }
}
