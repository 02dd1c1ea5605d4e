/** The sandbox at the host: the gallery, forks of the source on screen, and one run at a time. */
import type {
  Calibration,
  Forked,
  ForkInput,
  GalleryEntry,
  RunEvent,
  RunInput,
  ScenarioCheck,
  Variant,
} from '#core/api/sandbox.ts'
import type { Span } from '#core/api/history.ts'
import { fail, type Failure, type Result } from '#core/base/result.ts'
import type { OnScreen } from '../on-screen.ts'

const NOT_YET: Failure = { code: 'NOT_YET', what: 'This is not there yet' }

export interface SandboxDeskParts {
  readonly onScreen: OnScreen
  /** Folder of saved scenarios; undefined: none are kept. */
  readonly dataDir: string | undefined
}

export class SandboxDesk {
  readonly parts: SandboxDeskParts

  constructor(parts: SandboxDeskParts) {
    this.parts = parts
  }

  gallery(): GalleryEntry[] {
    return []
  }

  open(_id: string): Result<{ text: string; check: ScenarioCheck }> {
    return fail(NOT_YET)
  }

  check(_text: string): ScenarioCheck {
    throw new Error('not yet')
  }

  complete(
    _text: string,
    _line: number,
    _column: number,
  ): {
    fromColumn: number
    options: { label: string; detail: string; apply: string }[]
  } {
    return { fromColumn: 0, options: [] }
  }

  async fork(_input: ForkInput): Promise<Result<Forked>> {
    return fail(NOT_YET)
  }

  run(_input: RunInput, _signal?: AbortSignal): Result<AsyncGenerator<RunEvent, void, void>> {
    return fail(NOT_YET)
  }

  async calibrate(
    _input: ForkInput & { span: Span; seeds: number },
    _signal?: AbortSignal,
  ): Promise<Result<Calibration>> {
    return fail(NOT_YET)
  }

  stage(_variant: Variant, _verdict: string, _expireMinutes: number): Result<{ staged: number; text: string }> {
    return fail(NOT_YET)
  }

  save(_name: string, _text: string, _replace: boolean): Result<{ id: string }> {
    return fail(NOT_YET)
  }

  remove(_id: string): Result<undefined> {
    return fail(NOT_YET)
  }

  export(_id: string, _format: 'csv' | 'json' | 'md'): Result<{ name: string; text: string }> {
    return fail(NOT_YET)
  }

  close(): void {
    // Nothing runs yet.
  }
}
