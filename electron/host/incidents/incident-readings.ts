/** Raw readings of when an incident was opened: written beside its notebook while sampling continues. */
import { writeFileAtomicLater } from '../../files/atomic-file.ts'
import type { RawReading } from '../../incidents/bundle/bundle-source.ts'
import type { NotebookStore } from '../../incidents/notebook/notebook-store.ts'
import { frozenReadings, readingsText } from './readings.ts'

const WHAT = 'readings'
/** Most incidents whose readings are in memory if nothing is kept on disk. */
const IN_MEMORY = 4

export class IncidentReadings {
  readonly #store: NotebookStore
  /** Readings being written, or kept in memory. */
  readonly #held = new Map<string, readonly RawReading[]>()
  #writing: Promise<void> = Promise.resolve()

  constructor(store: NotebookStore) {
    this.#store = store
  }

  keep(id: string, readings: readonly RawReading[]): void {
    if (readings.length === 0) return
    const file = this.#store.beside(id, WHAT)
    this.#held.set(id, readings)
    if (file === undefined) {
      if (this.#held.size > IN_MEMORY) this.#held.delete(this.#held.keys().next().value as string)
      return
    }
    this.#writing = this.#writing.then(async () => {
      // An incident is complete without them; a full disk is reported when the notebook is written.
      await writeFileAtomicLater(file, readingsText(id, readings)).catch(() => undefined)
      this.#held.delete(id)
    })
  }

  of(id: string): readonly RawReading[] {
    const held = this.#held.get(id)
    if (held) return held
    const file = this.#store.beside(id, WHAT)
    return file === undefined ? [] : frozenReadings(file, id)
  }

  /** Resolves when pending writes are done. */
  settled(): Promise<void> {
    return this.#writing
  }
}
