/**
 * Layout of a stage: its channels and their enforcement objects by housekeeping rules. A duplicate channel or object is
 * refused; existing ones are unchanged. Source: spec/padll 1.5 and 2.
 */
import { fail, ok, type Failure, type Result } from '../../base/result.ts'
import { NS_PER_US } from '../../base/units.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import { OPERATION_CONTEXTS, OPERATION_TYPES, type Scope } from '../vocabulary.ts'
import { ANY, type Attributes, type Conditions, type Mask, TokenTable } from './differentiation.ts'
import { EnforcementObject, type LotHandler } from './enforcement-object.ts'
import { type BucketOptions, TokenBucket, usableRate, usableRefill } from './token-bucket.ts'

export const CHANNELS_MAX = 4096
export const OBJECTS_MAX = 16_384

type ChannelRule = Extract<HousekeepingRule, { kind: 'create_channel' }>
type ObjectRule = Extract<HousekeepingRule, { kind: 'create_object' }>

/** Further selection of a channel that rules cannot express. */
export interface ChannelOwner {
  readonly job?: string
  readonly user?: string
  /** 1..4, see SIZE_CLASS_ENDS. */
  readonly size?: number
}

interface Channel {
  readonly rule: ChannelRule
  readonly objects: TokenTable<EnforcementObject>
  readonly byId: Map<number, EnforcementObject>
}

const refused = (code: string, what: string, why?: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code, what, why, unaffected: 'The other channels and objects stay.' })

const scopeOf = (rule: ChannelRule | ObjectRule): Scope | undefined =>
  rule.type !== 'no_op' ? rule.type : rule.context !== 'no_op' ? rule.context : undefined

export class Layout {
  readonly #channels = new Map<number, Channel>()
  readonly #byConditions: TokenTable<Channel>
  readonly #mask: Mask | undefined
  readonly #objects: EnforcementObject[] = []
  readonly #bucketOptions: BucketOptions
  readonly #onRelease: LotHandler
  /** Incremented with each change. */
  version = 0
  /** Set if a channel needs the size of requests. */
  usesSize = false

  constructor(mask: Mask | undefined, bucketOptions: BucketOptions, onRelease: LotHandler) {
    this.#mask = mask
    this.#byConditions = new TokenTable(mask)
    this.#bucketOptions = bucketOptions
    this.#onRelease = onRelease
  }

  /** Enforcement objects in order of creation. */
  get objects(): readonly EnforcementObject[] {
    return this.#objects
  }

  apply(rule: HousekeepingRule, nowNs: number, owner: ChannelOwner): Result<void> {
    const done = rule.kind === 'create_channel' ? this.#addChannel(rule, owner) : this.#addObject(rule, nowNs)
    if (done.ok) this.version++
    return done
  }

  object(channel: number, object: number): EnforcementObject | undefined {
    return this.#channels.get(channel)?.byId.get(object)
  }

  /** Returns the limiter of a request, or why there is none. */
  find(request: Attributes): EnforcementObject | 'no-channel' | 'no-object' {
    const channel = this.#byConditions.find(request)
    return channel === undefined ? 'no-channel' : (channel.objects.find(request) ?? 'no-object')
  }

  #addChannel(rule: ChannelRule, owner: ChannelOwner): Result<void> {
    const name = `channel ${rule.channel}`
    if (this.#channels.has(rule.channel)) return refused('E_DUPLICATE', `${name} already exists`)
    if (this.#channels.size === CHANNELS_MAX) return refused('E_FULL', `more than ${CHANNELS_MAX} channels`)
    const conditions: Conditions = {
      workflow: rule.workflow,
      type: OPERATION_TYPES[rule.type],
      context: OPERATION_CONTEXTS[rule.context],
      size: owner.size ?? 0,
      user: owner.user ?? '',
      job: owner.job ?? '',
    }
    const channel = { rule, objects: new TokenTable<EnforcementObject>(this.#objectMask()), byId: new Map() }
    if (!this.#byConditions.add(conditions, channel)) {
      return refused('E_DUPLICATE', `${name} is refused`, 'another channel has the same conditions')
    }
    this.#channels.set(rule.channel, channel)
    if (conditions.size !== 0) this.usesSize = true
    return ok(undefined)
  }

  /** Objects match types and contexts only. */
  #objectMask(): Mask | undefined {
    return this.#mask && new Set([...this.#mask].filter((a) => a === 'type' || a === 'context'))
  }

  #addObject(rule: ObjectRule, nowNs: number): Result<void> {
    const name = `object ${rule.object} of channel ${rule.channel}`
    const channel = this.#channels.get(rule.channel)
    if (channel === undefined) return refused('E_CHANNEL', `${name} is refused`, 'there is no such channel')
    if (channel.byId.has(rule.object)) return refused('E_DUPLICATE', `${name} already exists`)
    if (this.#objects.length === OBJECTS_MAX) return refused('E_FULL', `more than ${OBJECTS_MAX} objects`)
    let bucket: TokenBucket | null = null
    if (rule.bucket !== null) {
      const rate = usableRate(rule.bucket.rate)
      if (!rate.ok) return rate
      const refill = usableRefill(rule.bucket.refillUs * NS_PER_US)
      if (!refill.ok) return refill
      bucket = new TokenBucket(nowNs, rate.value, refill.value, this.#bucketOptions)
    }
    const scope = scopeOf(rule) ?? scopeOf(channel.rule) ?? 'total'
    const of = { channel: rule.channel, object: rule.object, scope }
    const object = new EnforcementObject(of, bucket, this.#onRelease)
    const conditions = { ...ANY, type: OPERATION_TYPES[rule.type], context: OPERATION_CONTEXTS[rule.context] }
    if (!channel.objects.add(conditions, object)) {
      return refused('E_DUPLICATE', `${name} is refused`, 'another object has the same conditions')
    }
    channel.byId.set(rule.object, object)
    this.#objects.push(object)
    return ok(undefined)
  }
}
