"""web_bundle.py WEB: tests what becomes of the pages' scripts and of their style sheet. WEB is the folder web/."""
import glob
import json
import os
import re
import subprocess
import sys

web = sys.argv[1]
awk = os.environ.get('AWK', 'awk')
os.chdir(os.environ['work'])
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C'}
TEXT = '''say(`a  // b ${ c  +  `d  ${{ e : 1 }.e }  \\` ` } $ \\${ f } `) // g'''
LONG = '''const text = `one  {
    two  // is no comment

  it's ${ 1 +
      2 }  \\`
  three`; // it is
const  x  =  '}';'''
DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def same(got, wanted, name):
    print(f'{"ok" if got == wanted else "not ok"} {name}')
    if got != wanted:
        print(f'got {got!r}, wanted {wanted!r}')


def write(**files):
    for name, text in files.items():
        with open(f'{name}.js', 'w', encoding='utf-8') as out:
            out.write(text + '\n')


def bundle(*arguments):
    """Makes bundles in out/; returns what is said of a mistake."""
    subprocess.run('rm -rf out && mkdir out', shell=True, check=True)
    made = subprocess.run([awk, '-v', 'to=out', '-f', f'{web}/lean.awk', '-f', f'{web}/bundle.awk', *arguments],
                          env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, check=False)
    return made.stderr if made.returncode == 1 else made.stderr or made.returncode


def style(text):
    return subprocess.run([awk, '-f', f'{web}/lean_css.awk'], input=text, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False).stdout


def lean(text, wanted, name):
    """In a bundle, a script is to be this."""
    write(one=text)
    wrong = bundle('bundle=one.js', 'one.js')
    with open('out/one.js', encoding='utf-8') as made:
        _, *lines, _, _, _ = made.read().split('\n')
        same((wrong, '\n'.join(lines)), (0, f'{wanted}\nreturn{{}}}})();'), name)


# ---- a line

lean('    const a = 1; // one\n\n    // nothing\nlet  b   =  a + 1 ;', 'const a=1;\nlet b=a+1;', 'comments and blanks go')
lean('''say('a  //  b', "c  //  'd'"); // e 'f\'''', '''say('a  //  b',"c  //  'd'");''', 'texts in quotes stay')
lean(TEXT, '''say(`a  // b ${c+`d  ${{e:1}.e}  \\` `} $ \\${ f } `)''', 'templates stay, also one in another; their code is code')
lean(LONG, '''const text=`one  {
    two  // is no comment

  it's ${1+
2}  \\`
  three`;
const x='}';''', 'a text that spans lines stays, each blank and each line of it')
lean('''a = b / c / d; e = / [/"`]  "/g.test(f) // g''', '''a=b/c/d;e=/ [/"`]  "/g.test(f)''', 'a pattern stays, and a division is none')
lean("return /  '/; // a", "return/  '/;", 'behind return, it is a pattern')
lean('a = b + +c - -d; typeof e in f', 'a=b+ +c- -d;typeof e in f', 'a blank stays where two would be one without it')

# ---- files

write(low='''// low.js
export const ZERO = 0;
export async function wait(n) { return n; }
const own = 1;
export class Low { own() { return own; } }''', middle='''import { ZERO, Low as Deep } from './low.js';
import { top } from './a-top.js';
const own = 2;
export function middle() { return [ZERO, new Deep().own(), own, top]; }''', app='''import { middle } from './middle.js';
import { wait } from './low.js';
wait(3).then((three) => console.log(JSON.stringify(middle()), three));
import('./more.js').then(({ more }) => console.log(Object.keys(more).join(), more.last()));''', more="import { last, escape } from './last.js';\nexport const more = { last, escape };",
      last='''import { Low } from './low.js';
import { middle } from './middle.js';
import { now } from './now.js';
export const last = () => middle()[1] === new Low().own() && now();
export const escape = () => 'own';''', now="export const now = () => escape(' ');", **{'a-top': "export const top = 'top';"})
same(bundle('bundle=base.js', 'low.js', 'bundle=app.js', 'app.js', 'middle.js', 'a-top.js', 'bundle=more.js', 'more.js', 'last.js', 'now.js'), 0,
     'files are joined, in whatever order')
with open('out/package.json', 'w', encoding='utf-8') as package:
    package.write('{"type":"module"}')
same(subprocess.run(['node', 'out/app.js'], stdout=subprocess.PIPE, text=True, check=False).stdout, '[0,1,2,"top"] 3\nlast,escape %20\n',
     'they do what they did, also where a name is one of the browser, too')


def refused(name, words, *arguments):
    said = bundle(*arguments)
    same(str(said).startswith(f'bundle.awk: {words}'), True, f'{name}: {said}'.strip())


write(turn="import { round } from './round.js';\nexport const turn = 1;", round="import { turn } from './turn.js';\nexport const round = 1;",
      typo="import { wait, weight } from './low.js';")
refused('files that need each other', 'turn.js: it needs itself', 'bundle=app.js', 'turn.js', 'round.js')
refused('a file of a later bundle', 'last.js: it needs low.js', 'bundle=a.js', 'last.js', 'now.js', 'bundle=app.js', 'low.js', 'middle.js', 'a-top.js')
refused('a name that is not exported', 'typo.js:1: there is no low.js/weight', 'bundle=app.js', 'typo.js', 'low.js')
for line in ("import './low.js';", 'import {', 'import low from "./low.js";', 'export default 1;', 'export { own };', 'export let a = 1;', "say('a", 'say("a\\',
             'a; /* b */'):
    write(wrong=f'\n{line}')
    refused(line, 'wrong.js:2: ', 'bundle=app.js', 'wrong.js', 'low.js')
write(wrong='say(`a\nb')
refused('a text without an end', 'wrong.js: ', 'bundle=app.js', 'wrong.js', 'low.js')
refused('the same in the last file', 'wrong.js: ', 'bundle=app.js', 'low.js', 'wrong.js')
made = subprocess.run(['sh', f'{web}/embed.sh', 'bundle=app.js', 'wrong.js'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
same((made.returncode, made.stdout), (1, ''), 'then nothing is made of it')

# ---- the style sheet

same(style('''/* a
 * b */
a > b, c:hover { color: red; content: ": ,  {"; }

@media (max-width: 9rem) {
    a :is(b, c) + d { margin: calc(1px + 2px) 0 } /* d */
}'''.replace(' /* d */', '')), 'a>b,c:hover{color:red;content:": ,  {"}@media (max-width:9rem){a :is(b,c) + d{margin:calc(1px + 2px) 0}}\n',
     'of a style sheet, too, comments and blanks go')
same('a text does not span lines' in style('a { content: "b\n'), True, 'a text without an end is refused there')
same('a comment has lines to itself' in style('a { b: c } /* d */\n'), True, 'and a comment behind something')

# ---- the pages


def numbers(text):
    """The numbers of a place of a source map."""
    value = shift = 0
    for digit in map(DIGITS.index, text):
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            yield -(value >> 1) if value & 1 else value >> 1
            value = shift = 0


def untrue(name):
    """What is wrong in a bundle's map: lines that are not what the map says, and lines that are missing."""
    with open(f'out/{name}.map', encoding='utf-8') as text:
        said = json.load(text)
    files = [open(f'{web}/pages/{source}', encoding='utf-8').read().split('\n') for source in said['sources']]
    wrong, told = [], {(i, n) for i, lines in enumerate(files) for n, line in enumerate(lines) if re.match(r'\s*(?!//)\S', line)}
    file = number = 0
    for line, place in zip(open(f'out/{name}', encoding='utf-8'), said['mappings'].split(';')):
        if place:
            _, more, down, _ = numbers(place)
            file, number = file + more, number + down
            told.discard((file, number))
            made, source = (re.sub(r'\s', '', words) for words in (line, files[file][number]))
            if not re.match('import{', source) and not re.sub('^export', '', source).startswith(made):
                wrong.append((made, source))
    return wrong, told


scripts = sorted(glob.glob(f'{web}/pages/*.js'))
scripts.remove(f'{web}/pages/more.js')
same(bundle('bundle=all.js', *scripts, 'bundle=more.js', f'{web}/pages/more.js'), 0, 'the pages are joined')
for script in ('all.js', 'more.js'):
    same(untrue(script), ([], set()), f'by the map of {script}, each line has its line in a file')
