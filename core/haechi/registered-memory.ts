/**
 * Registered memory of a data node and the one-sided verbs on it: READ, WRITE, FAA, CAS, each checked against a key that grants certain
 * bytes and verbs. They run no code of the data node; operations that do are counted separately (spec/haechi 1, 10).
 *
 * FAA and CAS are Atomics on 64-bit words, so the same class holds the memory of a simulation (ArrayBuffer) and of worker threads that
 * share it (SharedArrayBuffer; counters then count the verbs of one thread).
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'

export type Key = number

/** Rights of a key. A FAA takes at most `takeUpTo` and never adds: 0 for none. */
export interface Rights {
  readonly read?: boolean
  readonly write?: boolean
  readonly cas?: boolean
  readonly takeUpTo?: number
}

interface Region {
  readonly name: string
  readonly start: number
  readonly length: number
  readonly rights: Rights
}

export interface VerbCounters {
  read: number
  write: number
  faa: number
  cas: number
  /** Verbs refused: wrong key, outside the region, or missing right. */
  refused: number
}

const WORD = 8

export class RegisteredMemory {
  readonly #bytes: Uint8Array
  readonly #words: BigInt64Array
  readonly #regions = new Map<Key, Region>()
  readonly counters: VerbCounters = { read: 0, write: 0, faa: 0, cas: 0, refused: 0 }

  constructor(buffer: ArrayBuffer | SharedArrayBuffer) {
    this.#bytes = new Uint8Array(buffer)
    this.#words = new BigInt64Array(buffer)
  }

  get size(): number {
    return this.#bytes.length
  }

  /** Registers bytes under a key; the same bytes may have several keys. */
  register(key: Key, name: string, start: number, length: number, rights: Rights): Result<Key> {
    const isInside = Number.isInteger(start) && start >= 0 && length > 0 && start + length <= this.#bytes.length
    if (!isInside) return fail({ code: 'E_BOUNDS', what: `The region ${name} is outside the memory` })
    if (this.#regions.has(key)) return fail({ code: 'E_KEY', what: `The key of the region ${name} is in use` })
    this.#regions.set(key, { name, start, length, rights })
    return ok(key)
  }

  deregister(key: Key): void {
    this.#regions.delete(key)
  }

  /** READ: copies `into.length` bytes of the region, starting at `offset`. */
  read(key: Key, offset: number, into: Uint8Array): Result<void> {
    const at = this.#locate(key, offset, into.length, 'READ')
    if (!at.ok) return at
    into.set(this.#bytes.subarray(at.value, at.value + into.length))
    this.counters.read++
    return ok(undefined)
  }

  /** WRITE: copies `bytes` into the region at `offset`. */
  write(key: Key, offset: number, bytes: Uint8Array): Result<void> {
    const at = this.#locate(key, offset, bytes.length, 'WRITE')
    if (!at.ok) return at
    this.#bytes.set(bytes, at.value)
    this.counters.write++
    return ok(undefined)
  }

  /** WRITE of one aligned word, atomic. */
  writeWord(key: Key, offset: number, word: bigint): Result<void> {
    const at = this.#word(key, offset, 'WRITE')
    if (!at.ok) return at
    Atomics.store(this.#words, at.value, word)
    this.counters.write++
    return ok(undefined)
  }

  /** READ of one aligned word. */
  readWord(key: Key, offset: number): Result<bigint> {
    const at = this.#word(key, offset, 'READ')
    if (!at.ok) return at
    this.counters.read++
    return ok(Atomics.load(this.#words, at.value))
  }

  /** FAA: subtracts `take` (> 0) from a word and returns its previous value. */
  takeFrom(key: Key, offset: number, take: number): Result<bigint> {
    const at = this.#word(key, offset, 'FAA')
    if (!at.ok) return at
    const most = this.#regions.get(key)?.rights.takeUpTo ?? 0
    if (!(Number.isInteger(take) && take > 0 && take <= most)) {
      this.counters.refused++
      return fail({
        code: 'E_FAA',
        what: `A FAA of ${-take} is refused`,
        why: take < 0 ? 'only the monitor adds tokens' : `a FAA takes from 1 to ${most} tokens`,
        unaffected: 'The word is unchanged.',
      })
    }
    this.counters.faa++
    return ok(Atomics.sub(this.#words, at.value, BigInt(take)))
  }

  /** CAS: writes `desired` if the word is `expected`; returns its previous value. */
  compareAndSwap(key: Key, offset: number, expected: bigint, desired: bigint): Result<bigint> {
    const at = this.#word(key, offset, 'CAS')
    if (!at.ok) return at
    this.counters.cas++
    return ok(Atomics.compareExchange(this.#words, at.value, expected, desired))
  }

  /** Reads a word locally, as the data node does: no verb, no key. */
  ownWord(byte: number): bigint {
    return Atomics.load(this.#words, byte / WORD)
  }

  #word(key: Key, offset: number, verb: Verb): Result<number> {
    const at = this.#locate(key, offset, WORD, verb)
    if (!at.ok) return at
    if (at.value % WORD === 0) return ok(at.value / WORD)
    this.counters.refused++
    return fail({ code: 'E_ALIGNMENT', what: `A ${verb} of a word at byte ${offset} is not aligned` })
  }

  #locate(key: Key, offset: number, length: number, verb: Verb): Result<number> {
    const region = this.#regions.get(key)
    const refusal = region ? refusalOf(region, offset, length, verb) : unknownKey(verb)
    if (refusal || !region) {
      this.counters.refused++
      return fail(refusal ?? unknownKey(verb))
    }
    return ok(region.start + offset)
  }
}

type Verb = 'READ' | 'WRITE' | 'FAA' | 'CAS'

function refusalOf(region: Region, offset: number, length: number, verb: Verb): Failure | null {
  const { rights, name } = region
  const has = { READ: rights.read, WRITE: rights.write, FAA: rights.takeUpTo !== undefined, CAS: rights.cas }[verb]
  if (has !== true) {
    return { code: 'E_RIGHTS', what: `A ${verb} of ${name} is refused`, why: 'its key does not allow that' }
  }
  if (Number.isInteger(offset) && offset >= 0 && offset + length <= region.length) return null
  return {
    code: 'E_BOUNDS',
    what: `A ${verb} of ${length} bytes at ${offset} is refused`,
    why: `${name} has ${region.length} bytes`,
  }
}

const unknownKey = (verb: Verb): Failure => ({ code: 'E_KEY', what: `A ${verb} with an unknown key is refused` })
