/** File that arrives in parts: kept under a temporary name until it is complete. */
import { randomBytes } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { PART } from './atomic-file.ts'

export class PartialFile {
  readonly #file: string
  readonly #part: string
  readonly #handle: FileHandle
  #size = 0

  private constructor(file: string, part: string, handle: FileHandle) {
    this.#file = file
    this.#part = part
    this.#handle = handle
  }

  /** @throws the system error; no file is left. */
  static async open(file: string): Promise<PartialFile> {
    const part = `${file}.${randomBytes(6).toString('hex')}${PART}`
    return new PartialFile(file, part, await open(part, 'wx', 0o600))
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size
  }

  /** @throws the system error; call `drop` then. */
  async add(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += (await this.#handle.write(bytes, done, bytes.length - done)).bytesWritten
    }
    this.#size += bytes.length
  }

  /** Renames the file to its final name. @throws the system error; call `drop` then. */
  async finish(): Promise<void> {
    await this.#handle.sync()
    await this.#handle.close()
    await rename(this.#part, this.#file)
  }

  /** Removes the partial file. */
  async drop(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
    await rm(this.#part, { force: true }).catch(() => undefined)
  }
}
