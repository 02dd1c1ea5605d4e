/** One test per family of real parts: a browser, an SSH server, a program under the stage of PADLL, the command line. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  limit,
  noStage,
  rateOf,
  ScriptedController,
  shortFolder,
  Staged,
  trialProgram,
} from '#tests/kits/electron/padll/scripted-controller.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'
import { launch, noBrowser, openConsole } from '../e2e/browser.ts'
import { startLab } from '../lab/lab.ts'
import { liveConsole } from '../node/live-console.ts'
import { tempFolder } from '../node/temp-folder.ts'

/** So little load that a minute of it is emulated in a second. */
const QUIET = `title: Quiet
clients: { count: 1 }
oss:
  - name: oss01
    osts:
      - { name: quiet-OST0000, disk: { bandwidth_mb_s: 500 } }
control: { max_rate: 500 }
jobs:
  - { id: 4690.ior.ada, clients: [1], op: write, size_kib: 1024, pattern: { kind: poisson, rate: 5 } }
`

const LAUNCHER = join(import.meta.dirname, '../../electron/cli/sluice.mjs')

describe.skipIf(noBrowser !== undefined)('a browser', () => {
  it('shows the jobs of the emulator, and they move', async () => {
    const sluice = await openConsole()
    onTestFinished(() => sluice.close())
    const browser = await launch()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (e) => errors.push(String(e)))
    await page.goto(sluice.served.freshUrl())
    await expect.poll(() => page.getByTestId('source-word').first().textContent()).toContain('EMULATED')
    await page.keyboard.press('2')
    await page.getByTestId('job-row').first().waitFor()
    const rates = (): Promise<string[]> => page.locator('[data-testid=job-row] [data-col=rpcs]').allTextContents()
    const before = await rates()
    await expect.poll(rates).not.toEqual(before)
    expect(errors).toEqual([])
  })
})

describe.skipIf(noSshd !== '')('an SSH server', () => {
  it('has a rule after its review, and loses it by its timer when the console is gone', async () => {
    const scenario = join(tempFolder(), 'quiet.yaml')
    writeFileSync(scenario, QUIET)
    const lab = await startLab({ scenario, servers: ['oss01'] })
    onTestFinished(() => lab.stop())
    const live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts })
    onTestFinished(() => live.close())
    await live.show()
    await live.enforce()
    await live.stage('reg start ops_cap jobid={4690*} rate=25', 60)
    expect(await live.commit()).toEqual(['oss01 done'])
    expect(await lab.rules('oss01')).toMatch(/^ops_cap .* 25,/m)
    lab.node('oss01').sshd.killSessions()
    await live.close()
    expect(await lab.rules('oss01')).toMatch(/^ops_cap /m)
    await lab.setSpeed(60)
    await expect.poll(() => lab.rules('oss01')).not.toMatch(/^ops_cap /m)
  })
})

describe.skipIf(noStage !== '')('a program under the stage', () => {
  it('opens files no faster than its limit', async () => {
    const folder = shortFolder()
    const mount = join(folder, 'managed')
    mkdirSync(mount)
    writeFileSync(join(mount, 'file'), 'content')
    const controller = await new ScriptedController({ rules: limit('open', 'no_op', 1000) }).listen()
    onTestFinished(() => controller.close())
    const settings = { job: 'job.1', mounts: [mount], socket: controller.path, startWaitMs: 5000 }
    const { count, seconds } = rateOf(
      await new Staged(trialProgram(), ['some', join(mount, 'file'), '0', '3000'], settings).ended,
    )
    expect(count).toBe(3000)
    // The first second's worth may arrive at once.
    expect(seconds).toBeGreaterThan(1.9)
  })
})

describe('the command line', () => {
  it('reads from a pipe, answers in JSON and ends with 0', async () => {
    const child = spawn(process.execPath, [LAUNCHER, 'parse', 'job_stats'], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, SLUICE_DATA: tempFolder() },
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.stdin.end(
      'job_stats:\n- job_id: 4690.ior.ada\n  snapshot_time: 1700000000\n' +
        '  write_bytes: { samples: 3, unit: bytes, min: 4096, max: 8192, sum: 16384 }\n',
    )
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect({ code: await ended, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      targets: [{ jobs: [{ job_id: '4690.ior.ada', ops: { write_bytes: { samples: 3, sum: 16384 } } }] }],
      skipped: [],
    })
  })
})
