/** Notebooks at the host: made of what is on screen, kept in the data folder. */
import type { CellInput, Incident, IncidentsFrame, IncidentStatus } from '#core/api/incidents.ts'
import type { Span } from '#core/api/history.ts'
import type { Result } from '#core/base/result.ts'
import type { RunResult } from '#core/api/sandbox.ts'
import type { OnScreen } from '../on-screen.ts'
import { notYet } from './not-yet.ts'

export interface NotebookDeskParts {
  readonly onScreen: OnScreen
  /** Folder of the console's data; undefined: notebooks are in memory only. */
  readonly dataDir: string | undefined
  /** A result of the sandbox; null: the newest. */
  readonly run: (id: string | null) => Result<RunResult>
  readonly changed: () => void
}

export class NotebookDesk {
  readonly parts: NotebookDeskParts

  constructor(parts: NotebookDeskParts) {
    this.parts = parts
  }

  list(): IncidentsFrame['incidents'] {
    return []
  }

  find(_id: string): Incident | undefined {
    return undefined
  }

  /** SHA-256 of the notebook as it would stand in a bundle without redaction. */
  integrityOf(_incident: Incident): string {
    return ''
  }

  create(_input: {
    atMs: number | null
    span: Span | null
    title: string
    note: string
    alert?: Incident['alert']
    /** Source that it is about; the one on screen by default. */
    cluster?: string
  }): Result<{ id: string }> {
    return notYet('The incident was not opened')
  }

  change(
    _id: string,
    _change: { title?: string | undefined; status?: IncidentStatus | undefined; span?: Span | undefined },
  ): Result<undefined> {
    return notYet('The incident was not changed')
  }

  remove(_id: string): Result<undefined> {
    return notYet('The incident was not removed')
  }

  restore(_id: string): Result<undefined> {
    return notYet('The incident was not restored')
  }

  addCell(_id: string, _atMs: number | null, _cell: CellInput, _behind: string | null): Result<{ cell: string }> {
    return notYet('The cell was not added')
  }

  editCell(_id: string, _cell: string, _text: string): Result<undefined> {
    return notYet('The note was not changed')
  }

  moveCell(_id: string, _cell: string, _by: number): Result<undefined> {
    return notYet('The cell was not moved')
  }

  removeCell(_id: string, _cell: string): Result<undefined> {
    return notYet('The cell was not removed')
  }

  restoreCell(_id: string): Result<undefined> {
    return notYet('The cell was not restored')
  }

  close(): void {
    // Nothing waits.
  }
}
