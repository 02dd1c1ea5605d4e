/**
 * Entry point of all npm scripts: `node scripts/boot.mjs COMMAND`. Plain JavaScript for Node 18 and later: installs missing
 * dependencies, then continues under the Node 24 that npm installed.
 */
import { join } from 'node:path'
import { build } from './build.mjs'
import { runAllTests, runChecks, runTests, runTypecheck } from './checks.mjs'
import { endWithNpm, interruptCode, run } from './child.mjs'
import { icons } from './icons.mjs'
import { rerunUnderInstalledNode, install, needsOtherNode, nodeToUse, root } from './install.mjs'
import { makePackage } from './package.mjs'
import { sbom } from './sbom.mjs'
import { say, Stop } from './messages.mjs'
import { security } from './security.mjs'
import { parseStart, start, startUsage } from './start.mjs'
import { runStress } from './stress.mjs'
import { tool } from './tools.mjs'

const usage = `Usage: node scripts/boot.mjs COMMAND

  start [options]   open the console (start --help lists the options)
  test [args]       the checks and the tests of every change; args go to vitest
  test:all [args]   the same, and everything that needs servers, browsers and processes
  test:stress       test, five times, two of them beside two busy loops
  check             format, types, lint and import directions
  typecheck         types only
  build             build out/
  package [args]    make installers of this platform in dist/; args go to electron-builder
  sbom [FILE]       print what ships as CycloneDX (after package; FILE: its list of packages)
  security          print Electron's security checklist: the line and the test of each item
  icons             draw the icons of resources/icons again
  bench [args]      run the benchmarks
  soak [args]       run the console for hours of emulated time, and judge it
  run TOOL [args]   run a tool of node_modules
  ensure            install what is missing; print the Node to use
`

/** @type {Record<string, (args: string[]) => Promise<number>>} */
const commands = {
  start: (args) => start(parseStart(args)),
  test: (args) => runTests(args),
  'test:all': (args) => runAllTests(args),
  'test:stress': (args) => runStress(args),
  check: () => runChecks(),
  typecheck: () => runTypecheck(),
  build: () => build({ always: true }),
  package: (args) => makePackage(args),
  sbom: ([file]) => sbom(file),
  security: async () => security(),
  icons: () => icons(),
  // Browser benches measure the current build of the window.
  bench: async (args) => (await build()) || (await run(nodeToUse(), [join(root, 'bench/run.ts'), ...args])).code,
  soak: async (args) => (await run(nodeToUse(), ['--expose-gc', join(root, 'soak/run.ts'), ...args])).code,
  run: async ([name, ...args]) => {
    if (name === undefined) throw new Stop('run needs the name of a tool', 2)
    return (await tool(name, args)).code
  },
  ensure: async () => {
    process.stdout.write(`${nodeToUse()}\n`)
    return 0
  },
}

/** @param {string[]} argv @returns {Promise<number>} exit code */
async function main([name, ...args]) {
  if (name === '--help' || name === '-h') {
    process.stdout.write(usage)
    return 0
  }
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    process.stderr.write(usage)
    throw new Stop(name === undefined ? 'a command is needed' : `unknown command ${name}`, 2)
  }
  // Options are parsed before any installation, so that a typing error fails at once.
  if (name === 'start' && parseStart(args).help) {
    process.stdout.write(startUsage)
    return 0
  }
  await install()
  if (name !== 'ensure' && needsOtherNode()) return rerunUnderInstalledNode([name ?? '', ...args])
  return command(args)
}

endWithNpm()
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    if (!(error instanceof Stop)) throw error
    say(error.message)
    process.exit(interruptCode() ?? error.code)
  },
)
