/** The emulated node's systemctl, systemd-run and sudo give the recorded answers of Debian's. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { ROOT, type NodeUser } from '#core/emulator/lctl/host.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { READINGS, sudoersArgs } from '#electron/cluster/discovery/readings.ts'
import { demoScenario } from '#electron/files/resources.ts'
import { HELPER_PATH, LCTL_PATH } from '#electron/cluster/remote/sudo-scope.ts'
import { askAll, ASKED, comparable, readRecorded, recordedFile } from '../lab/systemd-answers.ts'

const LOGIN: NodeUser = {
  name: 'sluice',
  uid: 1000,
  sudo: [...READINGS.map((args) => `${LCTL_PATH} ${sudoersArgs(args)}`), HELPER_PATH],
}

describe.each([252, 257] as const)('as systemd %i answered', (systemd) => {
  const recorded = readRecorded(readFileSync(recordedFile(systemd), 'utf8'))

  it('the record is of the commands that are sent today', () => {
    expect(recorded.systemd).toMatch(new RegExp(`^systemd ${systemd} `))
    const requests = ASKED.map(({ as, command }) => ({ as, command }))
    expect(recorded.answers.map(({ as, command }) => ({ as, command }))).toEqual(requests)
  })

  it('so does an emulated node', async () => {
    const scenario = parseScenario(readFileSync(demoScenario(), 'utf8'))
    if (!scenario.ok) throw new Error(scenario.error.why)
    const { sim, ...cluster } = new EmulatedCluster(scenario.value, { systemd })
    const node = cluster.nodes.find((n) => n.name === 'oss01')!
    sim.runUntil(10 * NS_PER_S)
    node.exec('lctl set_param jobid_name=%j.%e.u%u')
    const answers = await askAll(
      ({ as, command }) => Promise.resolve(node.exec(command, as === 'root' ? ROOT : LOGIN)),
      (seconds) => {
        sim.runUntil(sim.now + seconds * NS_PER_S)
        return Promise.resolve()
      },
    )
    for (const [i, { as, command, ...answer }] of recorded.answers.entries()) {
      const { as: _, command: __, ...emulated } = answers[i]!
      expect.soft(comparable(emulated), `${i} ${as}: ${command}`).toEqual(comparable(answer))
    }
  })
})
