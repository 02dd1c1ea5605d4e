/** A file that comes in parts and is there only when it is whole: beside its place until then. */
import { randomBytes } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { PART } from './whole-file.ts'

export class WholeParts {
  readonly #file: string
  readonly #part: string
  readonly #handle: FileHandle
  #size = 0

  private constructor(file: string, part: string, handle: FileHandle) {
    this.#file = file
    this.#part = part
    this.#handle = handle
  }

  /** @throws what the system says; nothing is left. */
  static async open(file: string): Promise<WholeParts> {
    const part = `${file}.${randomBytes(6).toString('hex')}${PART}`
    return new WholeParts(file, part, await open(part, 'wx', 0o600))
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size
  }

  /** @throws what the system says; `drop` is due then. */
  async add(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += (await this.#handle.write(bytes, done, bytes.length - done)).bytesWritten
    }
    this.#size += bytes.length
  }

  /** It gets its name. @throws what the system says; `drop` is due then. */
  async finish(): Promise<void> {
    await this.#handle.sync()
    await this.#handle.close()
    await rename(this.#part, this.#file)
  }

  /** Nothing is left of it. */
  async drop(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    await rm(this.#part, { force: true }).catch(() => undefined)
  }
}
