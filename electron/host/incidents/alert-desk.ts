/** Alerts at the host: what watches every source that runs, and what it opens. */
import type { Alert, AlertRule, AlertRuleFace } from '#core/api/incidents.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { Console } from '../console.ts'
import type { NotebookDesk } from './notebook-desk.ts'

export interface AlertDeskParts {
  /** Folder of the console's data; undefined: settings are in memory only. */
  readonly dataDir: string | undefined
  readonly notebooks: NotebookDesk
  readonly changed: () => void
}

export class AlertDesk {
  readonly parts: AlertDeskParts

  constructor(parts: AlertDeskParts) {
    this.parts = parts
  }

  /** Watches a source while it runs; returns how to stop. */
  watch(_console: Console): () => void {
    return () => undefined
  }

  /** Of every source that is watched, those that go on first, newest first. */
  list(): Alert[] {
    return []
  }

  /** Those of one source. */
  of(_cluster: string): Alert[] {
    return []
  }

  rules(): AlertRuleFace[] {
    return []
  }

  setRule(_rule: AlertRule): Result<undefined> {
    return ok(undefined)
  }
}
