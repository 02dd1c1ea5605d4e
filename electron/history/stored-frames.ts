/**
 * Stored frames of views that keep no samples of their own (locks, metadata, tokens): one every five seconds of the last hour, one
 * a minute of the last day.
 */
import type { Database, Statement } from 'better-sqlite3'
import { deflateSync, inflateSync } from 'node:zlib'

const EVERY_MS = 5000
const DENSE_MS = 3_600_000
const KEEP_MS = 24 * DENSE_MS
const THIN_MS = 60_000
/** Largest JSON of a frame that is kept. */
const TEXT_MAX = 16 * 2 ** 20
const PIECE = 200

export const packFrame = (frame: unknown): Buffer | undefined => {
  const text = JSON.stringify(frame)
  return text.length > TEXT_MAX ? undefined : deflateSync(text, { level: 1 })
}

/** Decodes a frame; undefined if the bytes are not valid. */
export function unpackFrame(data: Buffer): unknown {
  try {
    return JSON.parse(inflateSync(data, { maxOutputLength: 4 * TEXT_MAX }).toString()) as unknown
  } catch {
    return undefined
  }
}

export class StoredFrames {
  readonly #put: Statement<(string | number | Buffer)[]>
  readonly #drop: Statement<number[]>
  readonly #thin: Statement<number[]>
  /** Time of the last stored frame by view, for one source. */
  readonly #lastMs = new Map<string, number>()

  constructor(db: Database) {
    this.#put = db.prepare('INSERT OR REPLACE INTO kept_frame (cluster, view, at_ms, data) VALUES (?, ?, ?, ?)')
    this.#drop = db.prepare(
      'DELETE FROM kept_frame WHERE id IN (SELECT id FROM kept_frame WHERE cluster = ? AND at_ms < ? LIMIT ?)',
    )
    // The first frame of each minute is kept.
    this.#thin = db.prepare(
      `DELETE FROM kept_frame WHERE id IN (SELECT id FROM kept_frame AS k WHERE cluster = ? AND at_ms < ? AND EXISTS (
         SELECT 1 FROM kept_frame AS e WHERE e.cluster = k.cluster AND e.view = k.view
         AND e.at_ms >= k.at_ms / ${THIN_MS} * ${THIN_MS} AND e.at_ms < k.at_ms) LIMIT ?)`,
    )
  }

  /** True if a frame of a view would be kept now. */
  isDue(view: string, atMs: number): boolean {
    const last = this.#lastMs.get(view)
    return last === undefined || atMs < last || atMs - last >= EVERY_MS
  }

  /** Returns the write for a frame; undefined if the last one is younger than five seconds, or the frame too large. */
  keep(cluster: number, view: string, atMs: number, frame: unknown): (() => void) | undefined {
    if (!this.isDue(view, atMs)) return undefined
    this.#lastMs.set(view, atMs)
    const data = packFrame(frame)
    return data && (() => void this.#put.run(cluster, view.slice(0, 64), Math.round(atMs), data))
  }

  /** Resets the times: the next source has its own clock. */
  reset(): void {
    this.#lastMs.clear()
  }

  /** Deletes a batch of frames that are expired at `atMs`. Returns true if there may be more. */
  tidy(cluster: number, atMs: number): boolean {
    const at = Math.round(atMs)
    const dropped = this.#drop.run(cluster, at - KEEP_MS, PIECE).changes
    return dropped + this.#thin.run(cluster, at - DENSE_MS, PIECE).changes >= PIECE
  }
}
