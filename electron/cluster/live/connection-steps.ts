/**
 * Connection to a server as lines of the checklist: the steps, their duration, and the remedy for the one that failed.
 */
import type { CheckStep } from '#core/api/clusters.ts'
import type { Failure } from '#core/base/result.ts'
import type { SessionState, Step } from '../../ssh/state.ts'

/** Data from which the steps of a server are derived. */
export interface StepsOf {
  readonly host: string
  readonly address: { readonly text: string; readonly via: string } | Failure
  readonly state: SessionState
}

type Id = CheckStep['id']

/** Step to which a connection failure belongs. */
export function failedStep({ code, why = '' }: Failure): Id {
  // The session reports what it waited for.
  if (code === 'SSH_TIMEOUT' && why.startsWith('the key exchange was not')) return 'host key'
  if (code === 'SSH_TIMEOUT' && why.startsWith('the user was not auth')) return 'auth'
  if (code === 'SSH_CONFIG' || code === 'SSH_NAME') return 'config'
  if (code === 'SSH_JUMP') return 'jump'
  if (code === 'SSH_DNS') return 'dns'
  if (code === 'SSH_TCP') return 'tcp'
  if (code.startsWith('SSH_HOST_KEY') || code === 'SSH_ALGORITHMS' || code === 'SSH_HANDSHAKE') return 'host key'
  if (code.startsWith('SSH_AUTH')) return 'auth'
  return 'tcp'
}

const AGAIN = 'It is retried automatically.'
/** Remedies for failures that have none. */
const NEXT: Readonly<Record<string, string>> = {
  SSH_DNS: `Check the name, or give its address in ~/.ssh/config. ${AGAIN}`,
  SSH_TCP: `Check the address and the port, whether sshd runs there, and the firewall in between. ${AGAIN}`,
  SSH_TIMEOUT: `See whether the server hangs, or a firewall drops what is sent. ${AGAIN}`,
  SSH_HANDSHAKE: `See whether it is sshd that listens on this port, and what its log says. ${AGAIN}`,
  SSH_JUMP: `Check the jump host first. ${AGAIN}`,
  SSH_LOST: AGAIN,
  SSH_NAME: 'Correct the name in the cluster, or its lines in ~/.ssh/config.',
  SSH_CONFIG: 'Correct ProxyJump in ~/.ssh/config, or the jump host of the server.',
}
const nextOf = ({ code, next }: Failure): string => next ?? NEXT[code] ?? ''

/** Steps of a connection in order; those of a jump host take the place of TCP. */
export function connectionSteps({ host, address, state }: StepsOf): CheckStep[] {
  const line = (id: Id, command: string): CheckStep => ({
    id,
    command,
    state: 'next',
    tookMs: null,
    detail: '',
    fix: '',
  })
  if ('code' in address) {
    return [{ ...line('config', `ssh -G ${host}`), state: 'bad', detail: sentence(address), fix: nextOf(address) }]
  }
  const way = address.via === '' ? (['dns', 'tcp'] as const) : (['jump'] as const)
  const commands: Record<Step, string> = {
    jump: `connect to ${address.text} via ${address.via}`,
    dns: `look up ${address.text.replace(/^.*@/, '').replace(/:\d+$/, '')}`,
    tcp: `connect to ${address.text}`,
    'host key': 'compare the host key with known_hosts and the trust store',
    auth: 'public keys: agent, then files',
    shell: 'start the command channel',
  }
  const ids: Step[] = [...way, 'host key', 'auth', 'shell']
  const steps = ids.map((id) => line(id, commands[id]))
  const done = state.kind === 'connected' ? state.connected.steps : state.kind === 'connecting' ? state.done : []
  for (const s of steps) {
    const at = done.find((d) => d.step === s.id)
    if (at) Object.assign(s, { state: 'ok', tookMs: at.tookMs })
  }
  if (state.kind === 'connected') {
    const { hostKey, commands: channel, negotiated } = state.connected
    for (const s of steps) {
      s.state = 'ok'
      if (s.id === 'host key') s.detail = `${hostKey.type} ${hostKey.fingerprint}, ${hostKey.known[0]?.where ?? ''}`
      if (s.id === 'shell')
        s.detail =
          channel.mode === 'channel' ? 'one shell session for all commands' : `one session per command: ${channel.why}`
      if (s.id === 'host key' && !negotiated.isStrict) {
        Object.assign(s, { state: 'watch', fix: 'The server lacks strict key exchange; OpenSSH 9.6 has it.' })
      }
    }
  }
  if (state.kind === 'connecting') {
    const at = steps.find((s) => s.id === state.step)
    if (at) at.state = 'now'
  }
  if (state.kind === 'refused' || state.kind === 'lost') {
    const { failure } = state
    const id = failedStep(failure)
    const at = steps.find((s) => s.id === id) ?? steps[0]
    for (const s of steps) {
      if (s === at) break
      s.state = 'ok'
    }
    const isOpen = failure.code === 'SSH_HOST_KEY_UNKNOWN' || failure.code === 'SSH_HOST_KEY_OTHER_TYPE'
    if (at)
      Object.assign(at, {
        state: isOpen ? 'you' : 'bad',
        detail: sentence(failure),
        fix: nextOf(failure),
      })
  }
  return steps
}

const sentence = (f: Failure): string => (f.why === undefined ? f.what : `${f.what}: ${f.why}`)
