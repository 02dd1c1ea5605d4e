/** Moving through time at the host: what is on screen beside the newest samples, and what is kept. */
import type { CsvQuery, HistoryFrame, HistoryQuery, Span, TierId } from '#core/api/history.ts'
import { fail, type Failure, type Result } from '#core/base/result.ts'
import type { OnScreen } from '../on-screen.ts'

const NOT_YET: Failure = { code: 'NOT_YET', what: 'This is not there yet' }

export interface HistoryDeskParts {
  readonly onScreen: OnScreen
  /** Folder of recordings; undefined: none are kept. */
  readonly dataDir: string | undefined
}

export class HistoryDesk {
  readonly #parts: HistoryDeskParts

  constructor(parts: HistoryDeskParts) {
    this.#parts = parts
  }

  goTo(_atMs: number): Result<{ sample: number; atMs: number; recorded: boolean }> {
    return fail(NOT_YET)
  }

  event(_atMs: number, _direction: 'next' | 'previous'): number | null {
    return null
  }

  open(_name: string): Result<undefined> {
    return fail(NOT_YET)
  }

  leave(): void {
    this.#parts.onScreen.play(undefined)
  }

  note(_atMs: number, _text: string): Result<undefined> {
    return fail(NOT_YET)
  }

  setKeep(_tier: TierId, _keepMs: number): Result<undefined> {
    return fail(NOT_YET)
  }

  setQuota(_bytes: number): Result<undefined> {
    return fail(NOT_YET)
  }

  record(_name: string, _span: Span): Result<{ name: string; bytes: number }> {
    return fail(NOT_YET)
  }

  removeRecording(_name: string): Result<undefined> {
    return fail(NOT_YET)
  }

  csv(_query: CsvQuery): Result<AsyncGenerator<{ text: string; rows: number; isLast: boolean }, void, void>> {
    return fail(NOT_YET)
  }

  frame(_query: HistoryQuery & { at: number | null }, _seq: number): HistoryFrame {
    throw new Error('not yet')
  }
}
