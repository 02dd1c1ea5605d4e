/** Lost session: the same failure from the session through the node and `ask` to the commit shown in the window. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { formatReason } from '#core/base/result.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, noSshd, publicHalf, scratch, startSshd, type Sshd } from '#tests/kits/electron/ssh/sshd.ts'
import { commit, ruleService, stage, type Around } from '../../tests/node/rule-service.ts'
import { sendCommand } from '../enforce/send-command.ts'
import { accepted } from '../host/implementation.ts'
import { stagedFrame } from '../host/views/rules/staged.ts'
import type { Session } from './session.ts'
import { SshNode } from './ssh-node.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'

describe.skipIf(noSshd !== '')('a lost session', () => {
  let sshd: Sshd
  let key: string
  beforeAll(async () => {
    key = makeKey(join(scratch(), 'id'))
    sshd = await startSshd({ authorized: [publicHalf(key)] })
  })
  afterAll(() => sshd?.stop())
  afterEach(stopSessions)

  async function open(): Promise<Session> {
    const session = sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]))
    expect(await session.connect()).toMatchObject({ ok: true })
    return session
  }
  const isLost = (session: Session): Promise<void> =>
    new Promise((resolve) => session.onState(({ kind }) => kind === 'lost' && resolve()))

  it('fails the command that waits, and each one after it, with a code; none rejects', async () => {
    const session = await open()
    const node = new SshNode('oss01', ['oss'], session)
    const waiting = node.exec('sleep 30')
    const lost = isLost(session)
    sshd.killSessions()
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_LOST' } })
    await lost
    const failed = await session.run('true')
    expect(failed).toMatchObject({
      ok: false,
      error: { code: 'SSH_NOT_CONNECTED', what: '127.0.0.1 is not connected' },
    })
    expect(await node.exec('true')).toEqual(failed)
    expect(await sendCommand(node, 'true', 1000)).toEqual({
      kind: 'lost',
      why: `the server did not answer: ${failed.ok ? '' : formatReason(failed.error)}`,
    })
  })

  it('in the middle of a commit is what the window shows of the server, in the words of the session', async () => {
    const session = await open()
    const node = new SshNode('oss01', ['oss'], session)
    let isOver = false
    const around: Around = (inner) => ({
      ...inner,
      exec: async (command) => {
        if (inner.host !== 'oss01' || (!isOver && !command.includes('start cap'))) return inner.exec(command)
        if (!isOver) {
          isOver = true
          const lost = isLost(session)
          sshd.killSessions()
          await lost
        }
        return node.exec(command)
      },
    })
    const { service } = await ruleService({ around })
    stage(service, CAP)
    const { nodes } = accepted(await commit(service))
    const failed = await session.run('true')
    const why = failed.ok ? '' : formatReason(failed.error)
    expect(why).toMatch(/^127\.0\.0\.1 is not connected: \S/)
    const detail = `${CAP}: the server did not answer: ${why}, and the rules cannot be read`
    expect(nodes).toMatchObject([
      { host: 'oss01', state: 'unknown', detail },
      { host: 'oss02', state: 'not sent' },
    ])
    expect(stagedFrame(service, { service: 'ost_io' }, 1).commit?.nodes[0]).toMatchObject({ host: 'oss01', detail })
  })
})
