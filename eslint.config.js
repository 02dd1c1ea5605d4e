import vue from 'eslint-plugin-vue'
import typescript from 'typescript'
import ts from 'typescript-eslint'

/**
 * TypeScript gets only the script of a Vue component, as vue-eslint-parser passes it. Given the whole file, it would treat each
 * component as changed, and check all types again for it. If this expression finds a different script than the parser, types
 * are only recomputed; the findings stay the same.
 */
const { readFile } = typescript.sys
typescript.sys.readFile = (path, encoding) => {
  const text = readFile(path, encoding)
  return path.endsWith('.vue') ? (/<script\b[^>]*>(.*?)<\/script>/s.exec(text ?? '')?.[1] ?? '') : text
}

const htmlSinks = ['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map((property) => ({
  property,
  message: 'Text from a cluster is never HTML: use text nodes.',
}))

htmlSinks.push(
  ...['write', 'writeln'].map((property) => ({
    object: 'document',
    property,
    message: 'Text from a cluster is never HTML: use text nodes.',
  })),
)

/** The system's browser is opened in one place only: electron/main/open-external.ts. */
const doors = [{ property: 'openExternal', message: 'Links leave through electron/main/open-external.ts.' }]

/** The same for properties of created elements, in code and in templates. */
const htmlProps = [
  {
    selector:
      'Property[key.name=/^(?:innerHTML|outerHTML|srcdoc)$/], Property[key.value=/^(?:innerHTML|outerHTML|srcdoc)$/]',
    message: 'Text from a cluster is never HTML: use text nodes.',
  },
]

export default ts.config(
  { ignores: ['out/**', 'dist/**', 'node_modules/**'] },
  ...ts.configs.recommendedTypeChecked,
  ...vue.configs['flat/recommended'],
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parserOptions: {
        parser: ts.parser,
        project: ['tsconfig.core.json', 'tsconfig.node.json', 'tsconfig.web.json'],
        extraFileExtensions: ['.vue'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'no-restricted-properties': ['error', ...htmlSinks, ...doors],
      'no-restricted-syntax': ['error', ...htmlProps],
      'vue/no-restricted-v-bind': ['error', '/^v-/', 'innerHTML', 'inner-html', 'outerHTML', 'srcdoc'],
      'vue/no-v-html': 'error',
      'vue/html-self-closing': ['error', { html: { void: 'always', normal: 'always', component: 'always' } }],
      'vue/multi-word-component-names': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-indent': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/attributes-order': 'off',
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: ['core/**/*.ts'],
    ignores: ['core/**/*.test.ts', 'core/**/*.bench.ts'],
    rules: {
      'no-restricted-globals': ['error', 'Date', 'console', 'setTimeout', 'setInterval', 'performance', 'process'],
      'no-restricted-properties': [
        'error',
        ...htmlSinks,
        ...doors,
        { object: 'Math', property: 'random', message: 'Use a named stream of base/random.ts.' },
      ],
    },
  },
  {
    files: ['electron/main/open-external.ts'],
    rules: { 'no-restricted-properties': ['error', ...htmlSinks] },
  },
  { files: ['**/*.js', '**/*.mjs', '**/*.cjs'], ...ts.configs.disableTypeChecked },
  {
    // Runs in a page whose policy forbids any other code or resource; creates text nodes only.
    files: ['renderer/replay/**/*.ts'],
    rules: {
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-script-url': 'error',
      'no-restricted-globals': [
        'error',
        'fetch',
        'XMLHttpRequest',
        'WebSocket',
        'EventSource',
        'localStorage',
        'alert',
      ],
      'no-restricted-properties': ['error', ...htmlSinks],
    },
  },
)
