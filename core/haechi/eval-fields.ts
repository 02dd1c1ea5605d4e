/** Field reader of one input line; reports the first invalid field and substitutes a harmless value. */
import type { CapacityProfile } from './settings.ts'
import type { Word } from './report-word.ts'

export type Json = Readonly<Record<string, unknown>>

/** Most numbers in one list. */
const MAX_ITEMS = 10_000
/** Largest count or time in a line: far above any node, far below the exact range of a double. */
const MAX_COUNT = 2 ** 43

interface Shared {
  refusal: string | null
}

export class Fields {
  readonly raw: Json
  readonly #shared: Shared

  constructor(raw: Json, shared: Shared = { refusal: null }) {
    this.raw = raw
    this.#shared = shared
  }

  static isObject(value: unknown): value is Json {
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  }

  get refusal(): string | null {
    return this.#shared.refusal
  }

  refuse(message: string): Json {
    this.#shared.refusal ??= message
    return {}
  }

  has(name: string): boolean {
    return this.raw[name] !== undefined
  }

  /** A whole number >= 0. */
  count(name: string, otherwise?: number): number {
    return this.#number(name, 0, otherwise)
  }

  positive(name: string, otherwise?: number): number {
    return this.#number(name, 1, otherwise)
  }

  integer(name: string): number {
    return this.#number(name, -MAX_COUNT)
  }

  duration(name: string): number {
    return this.#number(name, 1)
  }

  real(name: string): number {
    const value = this.raw[name]
    if (typeof value === 'number' && value >= 0 && value <= 100) return value
    this.refuse(`${name} must be a number from 0 to 100`)
    return 0
  }

  flag(name: string, otherwise = false): boolean {
    const value = this.raw[name] ?? otherwise
    if (typeof value !== 'boolean') this.refuse(`${name} must be true or false`)
    return value === true
  }

  oneOf<T extends string>(name: string, known: readonly T[], otherwise: T): T {
    const value = this.raw[name] ?? otherwise
    const found = known.find((k) => k === value)
    if (found === undefined) this.refuse(`${name} must be one of ${known.join(', ')}`)
    return found ?? otherwise
  }

  counts(name: string): number[] {
    const value = this.raw[name]
    const isList = Array.isArray(value) && value.length <= MAX_ITEMS
    if (isList && value.every((v) => Number.isSafeInteger(v) && v >= 0 && v <= MAX_COUNT))
      return [...(value as number[])]
    this.refuse(`${name} must be a list of at most ${MAX_ITEMS} whole numbers >= 0`)
    return []
  }

  object(name: string): Fields {
    const value = this.raw[name]
    if (Fields.isObject(value)) return new Fields(value, this.#shared)
    this.refuse(`${name} must be an object`)
    return new Fields({}, this.#shared)
  }

  capacity(): CapacityProfile {
    return { globalIops: this.positive('CG'), localIops: this.positive('CL') }
  }

  word(name: string): Word {
    const value = this.raw[name]
    const digits = typeof value === 'string' ? /^0x([0-9a-f]{16})$/i.exec(value)?.[1] : undefined
    if (digits === undefined) this.refuse(`${name} must be 0x and 16 hexadecimal digits`)
    const at = digits ?? '0'.repeat(16)
    return { hi: parseInt(at.slice(0, 8), 16), lo: parseInt(at.slice(8), 16) }
  }

  #number(name: string, least: number, otherwise?: number): number {
    const value = this.raw[name] ?? otherwise
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= MAX_COUNT)
      return value as number
    this.refuse(`${name} must be a whole number >= ${least} and <= 2^43`)
    return least
  }
}
