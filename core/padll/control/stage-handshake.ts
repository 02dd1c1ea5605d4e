/**
 * Handshake by which a local controller admits a stage: its identity, its rules one by one with an ACK each, `ready`,
 * then the first rate of each object. A returning stage keeps its rates until these are set, so only they establish the
 * rates in force.
 *
 * Source: spec/padll 3. Deviation: the first rates.
 */
import type { LocalToStage, StageIdentity } from './messages.ts'
import { IDENTITY_MAX, PROTOCOL } from './protocol.ts'
import { SessionObject, type StageSession, type Terms } from './stage-session.ts'
import { objectsOf } from './layout-objects.ts'

const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0

/** Returns why a stage cannot be admitted; undefined if it can. */
export function identityFault(protocol: number, identity: StageIdentity): string | undefined {
  if (protocol !== PROTOCOL) return `its protocol is ${String(protocol).slice(0, 20)}, not ${PROTOCOL}`
  if (identity.job === '') return 'it has no job id'
  for (const part of ['job', 'hostname', 'user'] as const) {
    if (identity[part].length > IDENTITY_MAX[part]) return `its ${part} is longer than ${IDENTITY_MAX[part]} characters`
  }
  if (!isCount(identity.instance) || !isCount(identity.pid) || !isCount(identity.ppid)) {
    return 'its instance, pid or ppid is not a number >= 0'
  }
  return undefined
}

/** Returns the next messages of a handshake whose last step was answered; an empty list once the stage has joined. */
export function nextStep(session: StageSession, terms: Terms): readonly LocalToStage[] {
  const next = (): number => {
    const request = ++session.request
    session.handshake.add(request)
    return request
  }
  if (session.state === 'waiting') {
    session.state = 'housekeeping'
    session.rule = 0
    session.objects = objectsOf(terms.housekeeping).map((o) => new SessionObject(o))
  }
  const rule = terms.housekeeping[session.rule]
  if (session.state === 'housekeeping' && rule) {
    session.rule++
    return [{ kind: 'housekeeping', request: next(), rule }]
  }
  if (session.state === 'housekeeping') {
    session.state = 'ready'
    return [{ kind: 'ready', request: next(), lease: terms.lease }]
  }
  if (session.state === 'ready') {
    session.state = 'rates'
    const limiting = session.objects.filter((o) => o.isLimiting)
    if (limiting.length > 0) {
      return limiting.map(({ layout: { channel, object, rate } }) => ({
        kind: 'enforce',
        request: next(),
        epoch: terms.epoch,
        command: { channel, object, rate },
      }))
    }
  }
  session.state = 'joined'
  return []
}
