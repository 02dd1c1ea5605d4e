/** `npm run test:stress`: `npm test` several times, some of them on a machine under load. */
import { spawn } from 'node:child_process'
import { failures, lastReport, runTests } from './checks.mjs'
import { nodeToUse } from './install.mjs'
import { say, stopwatch } from './messages.mjs'

/** Rounds; true: with busy loops in parallel. */
const ROUNDS = [false, true, false, true, false]
const LOOPS = 2

/** @param {string[]} args passed to vitest @returns {Promise<number>} exit code: 0 if every round passed */
export async function runStress(args) {
  /** @type {string[]} */
  const lines = []
  let bad = 0
  for (const [index, busy] of ROUNDS.entries()) {
    const name = `round ${index + 1} of ${ROUNDS.length}${busy ? `, ${LOOPS} busy loops beside it` : ''}`
    say(name)
    const took = stopwatch()
    const end = busy ? load() : () => {}
    const code = await runTests(args).finally(end)
    const names = failures(lastReport())
    if (code !== 0) bad++
    lines.push(`${name}: ${code === 0 ? 'green' : 'red'} (${took()})`, ...names.map((test) => `  ${test}`))
  }
  process.stdout.write(`${lines.join('\n')}\n${ROUNDS.length - bad} passed, ${bad} failed\n`)
  return bad > 0 ? 1 : 0
}

/** @returns {() => void} ends the loops */
function load() {
  const loops = Array.from({ length: LOOPS }, () => spawn(nodeToUse(), ['-e', 'for (;;);'], { stdio: 'ignore' }))
  const end = () => {
    for (const loop of loops) loop.kill('SIGKILL')
    process.off('exit', end)
  }
  process.on('exit', end)
  return end
}
