import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, renameSync, symlinkSync } from 'node:fs'
import { delimiter } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Scratch } from './scratch-checkout.ts'

let scratch: Scratch
beforeEach(() => {
  scratch = new Scratch()
})
afterEach(() => scratch.remove())

/** A Node that is too old for TypeScript, if the machine has one. */
const oldNode = (() => {
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes('node_modules'))
  const print = 'console.log(JSON.stringify([process.execPath, Number(process.versions.node.split(".")[0])]))'
  const env = { ...process.env, PATH: path.join(delimiter) }
  const { stdout } = spawnSync('node', ['-e', print], { env, encoding: 'utf8' })
  const [file, major] = stdout ? (JSON.parse(stdout) as [string, number]) : ['', 99]
  return major < 22 ? file : undefined
})()

describe('the command line', () => {
  it('explains itself', async () => {
    const help = await scratch.run(['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('start [options]')
    const start = await scratch.run(['start', '--help'])
    expect(start).toMatchObject({ code: 0, stderr: '' })
    for (const option of ['--web', '--port N', '--history FILE', '--scenario FILE']) {
      expect(start.stdout).toContain(option)
    }
  })

  it.each([
    [['start', '--colour'], 'unknown option --colour'],
    [['start', 'now'], 'unknown option now'],
    [['start', '--port'], '--port needs a value'],
    [['start', '--port', '70000'], '--port needs a number from 0 to 65535, not 70000'],
    [['start', '--web=yes'], '--web takes no value'],
    [['fly'], 'unknown command fly'],
    [['run', 'rm'], 'there is no tool named rm'],
    [['run', '../x'], 'there is no tool named ../x'],
    [[], 'a command is needed'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await scratch.run(args)
    expect(code).toBe(2)
    expect(stderr).toContain(`sluice: ${message}`)
  })
})

describe('installing', () => {
  const ends = (text: string): string =>
    `echo "npm error ${text}" >&2; echo "npm error A complete log of this run" >&2; exit 1`

  it.each([
    [ends('code ENOTFOUND'), 'the package registry could not be reached (ENOTFOUND). Run the same command again'],
    [ends('nospc ENOSPC: no space left on device'), 'the disk is full (ENOSPC)'],
    [ends('Missing: x@1 from lock file'), 'Missing: x@1 from lock file. `npm ci` shows the whole message.'],
    ['exit 7', 'npm ended with code 7 and no message'],
  ])('says in one line why npm failed: %s', async (script, message) => {
    scratch.write('package-lock.json', '{"changed": true}')
    const { code, stderr } = await scratch.run(['ensure'], scratch.npm(script))
    expect(code).toBe(1)
    expect(stderr).toContain('sluice: installing dependencies (npm ci) ...')
    expect(stderr).toContain(`sluice: dependencies could not be installed: ${message}`)
    expect(stderr.trim().split('\n')).toHaveLength(2)
  })

  it('never installs through a link: npm would empty the folder behind it', async () => {
    const shared = `${scratch.folder}/shared`
    renameSync(`${scratch.folder}/node_modules`, shared)
    symlinkSync(shared, `${scratch.folder}/node_modules`)
    expect(await scratch.run(['ensure'])).toMatchObject({ code: 0, stderr: '' })
    scratch.write('package-lock.json', '{"changed": true}')
    const { code, stderr } = await scratch.run(['ensure'], scratch.npm('rm -rf node_modules/*'))
    expect(code).toBe(1)
    expect(stderr).toContain(`sluice: node_modules is a link to ${shared}`)
    expect(existsSync(`${shared}/vitest/run.js`)).toBe(true)
  })

  it('installs once for a lock file, with a PATH that has no node_modules in it', async () => {
    scratch.write('package-lock.json', '{"changed": true}')
    const env = scratch.npm('case "$PATH" in *node_modules*) exit 9;; esac; echo "$@" >> "$(dirname "$0")/calls"')
    const first = await scratch.run(['ensure'], { PATH: `${scratch.folder}/node_modules/.bin${delimiter}${env.PATH}` })
    expect(first).toMatchObject({ code: 0, stdout: `${scratch.folder}/node_modules/.bin/node\n` })
    expect(first.stderr).toMatch(/installed in \d+\.\d s/)
    expect(await scratch.run(['ensure'], env)).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('starting', () => {
  it.each([
    ['Ctrl-C, which reaches the whole group', 'SIGINT', true],
    ['SIGINT to boot alone', 'SIGINT', false],
    ['SIGTERM to boot alone', 'SIGTERM', false],
  ] as const)('leaves nothing running after %s', async (_name, signal, group) => {
    const boot = scratch.start(['start', '--web', '--port', '0', '--history=h.sqlite'], { INIT_CWD: '/tmp' }, oldNode)
    const up = await boot.until('server up')
    expect(up).toContain('"--port=0","--history=/tmp/h.sqlite"')
    expect(up).toContain(`"node":"${process.versions.node}"`)
    expect(scratch.alive().length).toBeGreaterThan(1)
    const { pid } = boot.child
    if (pid === undefined) throw new Error('boot did not start')
    process.kill(group ? -pid : pid, signal)
    const { code, stderr } = await boot.ended
    expect(scratch.alive()).toEqual([])
    expect(code).toBe(0)
    expect(stderr).toContain('serving the console to a browser instead of a window: asked for')
  })

  it('ends when the shell of npm is gone, which takes no signal along', async () => {
    const shell = scratch.startAsNpm('start --web')
    await shell.until('server up')
    shell.child.kill('SIGKILL')
    await expect.poll(() => scratch.alive()).toEqual([])
  })

  it('builds once and says why there is no window', async () => {
    scratch.write('electron/server/main.ts', 'console.log("server ran")')
    const first = await scratch.run(['start'])
    expect(first.stdout).toBe('built once\nserver ran\n')
    expect(first.stderr).toMatch(/sluice: building \.\.\.\nsluice: built in/)
    if (process.platform === 'linux') expect(first.stderr).toContain('instead of a window: no display')
    expect((await scratch.run(['start', '--web'])).stdout).toBe('server ran\n')
    scratch.write('electron/server/main.ts', 'process.exit(3) // changed')
    expect(await scratch.run(['start', '--web'])).toMatchObject({ code: 3, stdout: 'built once\n' })
  })
})

describe('packing', () => {
  it('says in one line why it cannot without Electron, and what to do', async () => {
    scratch.write('node_modules/electron/package.json', '{"version": "1.0.0"}')
    scratch.write('node_modules/electron/install.js', 'console.error("Error: getaddrinfo EAI_AGAIN"); process.exit(1)')
    const { code, stderr } = await scratch.run(['package'])
    expect(code).toBe(1)
    const [last] = stderr.trim().split('\n').slice(-1)
    expect(last).toBe(
      'sluice: nothing was packed: the Electron binary could not be fetched: Error: getaddrinfo EAI_AGAIN. Packing needs ' +
        "Electron and the installers' tools from the internet; run the same command where there is a connection.",
    )
  })

  it('builds, and hands its words to electron-builder, which publishes nothing', async () => {
    scratch.write('node_modules/electron/package.json', '{"version": "1.0.0"}')
    for (const [file, text] of [
      ['path.txt', 'electron'],
      ['dist/version', '1.0.0'],
      ['dist/electron', ''],
    ] as const)
      scratch.write(`node_modules/electron/${file}`, text)
    scratch.tool(
      'electron-builder',
      'console.log(process.argv.slice(2).join(" ")); process.exit(process.argv.includes("--bad") ? 2 : 0)',
    )
    const { code, stdout } = await scratch.run(['package', '--dir'])
    expect([code, stdout]).toEqual([0, 'built once\n--publish never --dir\n'])
    const failed = await scratch.run(['package', '--bad'])
    expect(failed.code).toBe(2)
    expect(failed.stderr).toContain('sluice: electron-builder could not finish; its lines above say why.')
  })

  it('has no bill of materials before something was packed', async () => {
    const { code, stderr } = await scratch.run(['sbom'])
    expect(code).toBe(1)
    expect(stderr).toContain('dist/packages.json is not there. `npm run package -- --dir` writes it.')
  })
})

describe('testing', () => {
  const report = (more: object): Record<string, string> => ({
    REPORT: JSON.stringify({ numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, testResults: [], ...more }),
  })
  const last = (text: string): string | undefined => text.trimEnd().split('\n').at(-1)

  it('counts every step and every test, and hands further words to vitest', async () => {
    const { code, stdout } = await scratch.run(['test', 'tests/node'], report({}))
    expect(code).toBe(0)
    expect(stdout).toContain('vitest got run tests/node of core, node, own-process, window, smoke\n')
    expect(last(stdout)).toBe('12 passed, 0 failed')
  })

  it('runs every project, and lints every file, when all is asked for', async () => {
    const { code, stdout, stderr } = await scratch.run(['test:all', 'tests/node'], report({}))
    expect(code).toBe(0)
    expect(stdout).toContain('vitest got run tests/node of all\n')
    expect(stdout).toContain('eslint got .\n')
    expect(stderr).toContain('lint (eslint) passed')
    expect(last(stdout)).toBe('12 passed, 0 failed')
  })

  it('lints what differs from the last commit, or from the upstream branch', async () => {
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@invalid', ...args], { cwd: scratch.folder })
    }
    git('init', '-q')
    scratch.write('.gitignore', 'node_modules\nout\n')
    scratch.write('core/old.ts', 'export const a = 1\n')
    git('add', '.')
    git('commit', '-qm', 'first')
    expect((await scratch.run(['test'], report({}))).stdout).not.toContain('eslint got')
    scratch.write('core/old.ts', 'export const a = 2\n')
    scratch.write('core/new.ts', 'export const b = 1\n')
    scratch.write('core/notes.md', 'words\n')
    expect((await scratch.run(['test'], report({}))).stdout).toContain('eslint got core/old.ts core/new.ts\n')
  })

  it('tries five times under stress, and names what failed in each round', async () => {
    const name = `${scratch.folder}/core/a.test.ts`
    const failed = { name, status: 'failed', assertionResults: [{ status: 'failed', fullName: 'sometimes' }] }
    const { code, stdout } = await scratch.run(['test:stress'], report({ numFailedTests: 1, testResults: [failed] }))
    expect(code).toBe(1)
    expect(stdout).toContain('round 2 of 5, 2 busy loops beside it: red')
    expect(stdout.split('  core/a.test.ts: sometimes\n')).toHaveLength(6)
    expect(last(stdout)).toBe('0 passed, 5 failed')
    expect(scratch.alive()).toEqual([])
  })

  it('continues after a failure and reports all of them', async () => {
    const broken = { name: '/core/a.test.ts', status: 'failed', assertionResults: [] }
    const env = report({ numFailedTests: 2, numPendingTests: 3, testResults: [broken] })
    const { code, stdout, stderr } = await scratch.run(['test'], { ...env, FAIL: 'prettier,depcruise' })
    expect(code).toBe(1)
    expect(last(stdout)).toBe('10 passed, 5 failed, 3 skipped')
    expect(stderr).toContain(
      'failed: directions (dependency-cruiser), format of what changed (prettier), tests (vitest)',
    )
  })

  it('checks without running the tests', async () => {
    const { code, stdout, stderr } = await scratch.run(['check'])
    expect(code).toBe(0)
    expect(last(stdout)).toBe('6 passed, 0 failed')
    expect(stderr).toMatch(/\[\d\/6\] format \(prettier\) \.\.\./)
  })
})
