/** Groups of audit records on their way to the disk, written by one thread (audit-thread.ts) that starts with the first record. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { AuditEntry, AuditRecord } from '../base/audit.ts'
import { bundledPath } from '../files/resources.ts'
import { AuditRefused } from './audit-chain.ts'

export interface AuditThreadTask {
  /** File of the enforcement store. */
  readonly file: string
}

/** A group of entries; `close` ends the thread. */
export type AuditThreadRequest = readonly AuditEntry[] | 'close'

/** Records of a group, all on disk; or the reason why none of them is. */
export type AuditThreadAnswer =
  { readonly records: readonly AuditRecord[] } | { readonly why: string; readonly isRefused: boolean }

function threadFile(): string {
  const source = join(import.meta.dirname, 'audit-thread.ts')
  return existsSync(source) ? source : bundledPath('audit-writer.js')
}

interface Waiting {
  readonly entry: AuditEntry
  readonly done: (record: AuditRecord) => void
  readonly failed: (why: Error) => void
}

export class AuditWriterThread {
  readonly #file: string
  #thread: Worker | undefined
  #waiting: Waiting[] = []
  #underWay: Waiting[] = []
  #isClosed = false

  /** @param file  file of the enforcement store. */
  constructor(file: string) {
    this.#file = file
  }

  /** Appends a record. Resolves when it is on disk. Rejects, also with AuditRefused, if it is not in the chain. */
  append(entry: AuditEntry): Promise<AuditRecord> {
    if (this.#isClosed) return Promise.reject(new Error('the enforcement store is closed'))
    return new Promise((done, failed) => {
      this.#waiting.push({ entry, done, failed })
      if (this.#underWay.length === 0) this.#next()
    })
  }

  /** Ends the thread after the records that wait. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#underWay.length === 0) this.#end()
  }

  #end(): void {
    this.#thread?.postMessage('close' satisfies AuditThreadRequest)
    this.#thread = undefined
  }

  #next(): void {
    this.#underWay = this.#waiting
    this.#waiting = []
    if (this.#underWay.length === 0) {
      // Does not keep the process running.
      this.#thread?.unref()
      if (this.#isClosed) this.#end()
      return
    }
    const thread = (this.#thread ??= this.#started())
    thread.ref()
    thread.postMessage(this.#underWay.map((w) => w.entry) satisfies AuditThreadRequest)
  }

  #started(): Worker {
    const thread = new Worker(threadFile(), {
      workerData: { file: this.#file } satisfies AuditThreadTask,
      execArgv: [],
    })
    thread.on('message', (answer: AuditThreadAnswer) => this.#take(answer))
    const lost = (why: string): void => {
      if (this.#thread === thread) this.#thread = undefined
      this.#take({ why: `the thread that writes the audit ended: ${why}`, isRefused: false })
    }
    thread.on('error', (e) => lost(e instanceof Error ? e.message : String(e)))
    thread.on('exit', (code) => lost(`code ${code}`))
    return thread
  }

  #take(answer: AuditThreadAnswer): void {
    const group = this.#underWay
    if (group.length === 0) return
    group.forEach(({ done, failed }, i) => {
      if ('why' in answer) return failed(answer.isRefused ? new AuditRefused(answer.why) : new Error(answer.why))
      const record = answer.records[i]
      if (record) done(record)
    })
    this.#next()
  }
}
