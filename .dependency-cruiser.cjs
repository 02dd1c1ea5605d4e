/**
 * Import rules: allowed dependencies of each folder, no cycles, and no modules used by tests only.
 * @type {import('dependency-cruiser').IConfiguration}
 */

const words = (text) => text.trim().split(/\s+/)

/** Emulator and all of its dependencies. */
const MODEL = 'base controllers sim series lustre tbf control adaptbf padll seqdlm haechi emulator'

/** Allowed imports of each folder within its part, lowest layer first: only folders above it in this list. */
const ALLOWED = {
  core: {
    base: '',
    controllers: '',
    sim: 'base',
    series: 'base',
    lustre: 'base',
    tbf: 'base sim series lustre',
    control: 'base controllers series lustre tbf',
    adaptbf: 'base controllers series lustre tbf control',
    seqdlm: 'base sim series',
    haechi: 'base controllers sim series',
    padll: 'base controllers series lustre tbf control',
    emulator: MODEL.replace(' emulator', ''),
    papers: MODEL,
    batch: 'base lustre',
    search: '',
    sandbox: `${MODEL} batch`,
    snapshot: 'base controllers series',
    api: 'base controllers series padll snapshot',
    alerts: 'base series snapshot',
  },
  electron: {
    base: '',
    files: '',
    preload: '',
    history: 'base files',
    ssh: 'base files',
    enforce: 'base files',
    cluster: 'base files history ssh enforce',
    recorded: 'base history cluster',
    emulate: 'base ssh cluster',
    sandbox: 'files',
    wire: '',
    haechi: 'base files wire',
    padll: 'files wire',
    ccpfs: 'files history wire',
    incidents: 'base files history enforce cluster recorded',
    foreign: 'files history incidents',
    host: 'base files history ssh cluster enforce recorded sandbox incidents foreign',
    server: 'history host',
    main: 'files foreign host server',
    cli: 'base files history ssh cluster enforce emulate sandbox haechi wire padll ccpfs incidents foreign host server',
  },
  renderer: {
    theme: '',
    format: '',
    commands: '',
    stores: 'theme format commands',
    composables: 'commands stores',
    widgets: 'theme format commands composables',
    charts: 'theme format composables widgets',
    reach: 'theme format commands stores composables widgets charts',
    replay: 'theme format widgets charts',
    help: 'format commands stores composables widgets',
    views: 'theme format commands stores composables reach widgets charts help',
    app: 'theme format commands stores composables reach widgets charts help views',
  },
  'electron/cluster': {
    probes: '',
    state: '',
    read: 'probes state',
    remote: 'probes',
    discovery: 'probes read remote',
    live: 'remote discovery',
    batch: 'probes',
    locks: 'state',
    tokens: 'state',
    control: 'state read',
    metadata: 'state read control',
  },
}

const TEST = '\\.(test|bench)\\.ts$'
const SOURCES = '^(core|electron|renderer)/'

/** Rules for one part: a folder imports only folders above it in the list, so cycles are impossible. */
const directions = (part) => {
  const folders = Object.entries(ALLOWED[part])
  return folders.map(([folder, below], i) => {
    const allowed = below === '' ? [] : words(below)
    const lower = folders.slice(0, i).map(([name]) => name)
    const notLower = allowed.find((name) => !lower.includes(name))
    if (notLower)
      throw new Error(`.dependency-cruiser.cjs: ${part}/${notLower} must be listed above ${folder}, lowest first`)
    return {
      name: `${part}-${folder}`,
      severity: 'error',
      comment: `${part}/${folder} may import only: ${['itself', ...allowed].join(', ')}`,
      from: { path: `^${part}/${folder}/`, pathNot: TEST },
      to: { path: `^${part}/`, pathNot: [folder, ...allowed].map((name) => `^${part}/${name}/`) },
    }
  })
}

/**
 * Parts of the host that sources and the command line may import; the application is a layer above. Relative to electron/host.
 */
const OF_HOST = {
  rules: 'rules/ position.ts',
  sources: 'sources/ rules/ scenario-file.ts',
}
const COMMANDS_OF_HOST = 'sources/ rules/ views/ scenario-file.ts sandbox/ incidents/readings.ts'
const inHost = (places) => words(places).map((place) => `^electron/host/${place.replaceAll('.', '\\.')}`)

const sourceDirections = [
  ...Object.entries(OF_HOST).map(([folder, places]) => ({
    name: `host-${folder}`,
    comment: `electron/host/${folder} may import of the host only: ${places}`,
    severity: 'error',
    from: { path: `^electron/host/${folder}/`, pathNot: TEST },
    to: { path: '^electron/host/', pathNot: inHost(places) },
  })),
  {
    name: 'commands-open-sources',
    comment: `A command opens a source, not the application: of the host it imports only ${COMMANDS_OF_HOST}`,
    severity: 'error',
    from: { path: '^electron/cli/', pathNot: TEST },
    to: { path: '^electron/host/', pathNot: inHost(COMMANDS_OF_HOST) },
  },
  {
    name: 'one-source-is-emulated',
    comment: 'A live cluster is opened without the emulator: only its own source imports it.',
    severity: 'error',
    from: { path: '^electron/host/(sources|rules)/', pathNot: [TEST, '^electron/host/sources/emulated\\.ts$'] },
    to: { path: ['^core/(emulator|sandbox|papers)/', '^electron/cluster/emulated-source\\.ts$'] },
  },
]

/** Folders of a part that are missing in its list. */
const unlisted = (part) => {
  const known = Object.keys(ALLOWED[part]).map((folder) => `^${part}/${folder}/`)
  return {
    name: `${part}-unlisted`,
    comment: `Every folder of ${part}/ must be listed in ALLOWED.`,
    severity: 'error',
    from: { path: `^${part}/[^/]+/`, pathNot: known },
    to: {},
  }
}

/** Entry points: programs, their threads, the command line, the window and its bridge. */
const ENTRIES = [
  '^electron/main/(main|host-process)\\.ts$',
  '^electron/preload/preload\\.ts$',
  '^electron/server/main\\.ts$',
  '^electron/cli/sluice\\.mjs$',
  '^electron/(host/papers|host/locks|sandbox)/worker\\.ts$',
  '^electron/(enforce/audit-thread|foreign/process|haechi/thread|incidents/shelf/export-thread|host/sandbox/reading-thread)\\.ts$',
  '^renderer/(app|replay)/main\\.ts$',
]

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^electron$' } },
    {
      name: 'core-is-pure',
      comment: 'core imports core, and the three pure libraries that declare its edges (schemas, contract, YAML).',
      severity: 'error',
      from: { path: '^core/', pathNot: TEST },
      to: { pathNot: ['^core/', '^node_modules/(zod|yaml|@orpc/contract)/'] },
    },
    {
      name: 'libraries-at-the-edges-of-core',
      comment: 'Only the contract and the readers of YAML and JSON documents may use a library at all.',
      severity: 'error',
      from: {
        path: '^core/',
        pathNot: [
          '^core/(api|emulator|sandbox|snapshot|padll/rules|padll/status|seqdlm/observation|haechi/status)',
          TEST,
        ],
      },
      to: { path: '^node_modules/' },
    },
    ...Object.keys(ALLOWED).flatMap((part) => [...directions(part), unlisted(part)]),
    ...sourceDirections,
    {
      name: 'window-knows-no-host',
      comment: 'The window imports the contract and pure formatting, never the host.',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: ['^electron/', '^node_modules/electron/'] },
    },
    {
      name: 'window-and-core',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^core/', pathNot: '^core/(api|base|controllers|snapshot)/' },
    },
    {
      name: 'host-knows-no-window',
      severity: 'error',
      from: { path: '^electron/', pathNot: TEST },
      to: { path: '^renderer/' },
    },
    {
      name: 'electron-only-in-main-and-preload',
      comment: 'Everything else runs and is tested under plain Node.',
      severity: 'error',
      from: { path: '^electron/', pathNot: '^electron/(main|preload)/' },
      to: { path: ['^node_modules/electron/', '^electron/(main|preload)/'] },
    },
    {
      name: 'tests-stay-outside',
      comment: 'The product imports no tests, and nothing that is made for them.',
      severity: 'error',
      from: { path: SOURCES, pathNot: TEST },
      to: {
        path: ['^(tests|bench|soak)/', TEST, '^node_modules/(vitest|fast-check|@vue/test-utils|happy-dom)/'],
      },
    },
    {
      name: 'used-by-the-product',
      comment: 'What only tests import is theirs: it belongs in tests/kits.',
      severity: 'error',
      from: { path: ENTRIES },
      to: { path: SOURCES, pathNot: [TEST, '\\.d\\.ts$', ...ENTRIES], reachable: false },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
