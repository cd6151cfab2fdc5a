package distribution

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const longestFile = 600

func TestNoFileIsTooLong(t *testing.T) {
	for _, name := range goFiles(t) {
		assert.LessOrEqual(t, strings.Count(read(t, name), "\n"), longestFile, "lines of %s", name)
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, name := range goFiles(t) {
		if strings.Contains(name, "/testdata/") {
			continue
		}
		file := parse(t, name, parser.PackageClauseOnly|parser.ParseComments)
		documented[path.Dir(name)] = documented[path.Dir(name)] || file.Doc != nil
	}
	for folder, ok := range documented {
		assert.True(t, ok, "%s needs a doc.go with a package comment", folder)
	}
}

// The collector needs the factory of a component and its configuration, whose nested structs are named ...Config;
// everything else is the component's own affair.
func TestComponentsExportOnlyFactoryAndConfiguration(t *testing.T) {
	folders := componentFolders(t)
	for _, name := range goFiles(t) {
		if !slices.Contains(folders, path.Dir(name)) || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, exported := range exportedNames(parse(t, name, parser.SkipObjectResolution)) {
			assert.True(t, exported == "NewFactory" || strings.HasSuffix(exported, "Config"), "%s exports %s", name, exported)
		}
	}
}

// Layers, lowest first: schema imports nothing of ours, internal imports schema and internal, a component imports those
// and its own packages. Programs and tests may import anything.
func TestImportsKeepTheLayers(t *testing.T) {
	for _, name := range goFiles(t) {
		allowed := []string{"schema", "internal"}
		switch top, _, _ := strings.Cut(name, "/"); {
		case top == "schema":
			allowed = []string{"schema"}
		case top == "internal":
		case slices.Contains(componentKinds, top):
			allowed = append(allowed, strings.Join(strings.SplitN(name, "/", 3)[:2], "/"))
		default:
			continue
		}
		for _, spec := range parse(t, name, parser.ImportsOnly).Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			ours, found := strings.CutPrefix(imported, module+"/")
			if !found {
				continue
			}
			assert.True(t, slices.ContainsFunc(allowed, func(folder string) bool {
				return ours == folder || strings.HasPrefix(ours, folder+"/")
			}), "%s imports %s; it may import %v", name, ours, allowed)
		}
	}
}

// A clone must work anywhere: nothing may name a package registry, a mirror, or a folder of one developer's machine.
func TestNothingNamesOneMachinesSurroundings(t *testing.T) {
	forbidden := []*regexp.Regexp{
		regexp.MustCompile(`https?://[\w.-]*(registry|proxy|mirror|artifactory|nexus)[\w-]*\.[\w.-]*`),
		regexp.MustCompile(`(^|[\s"'=:])/(work|root|home/\w+)/`),
		regexp.MustCompile(`"resolved"\s*:`),
	}
	for _, name := range files(t) {
		for number, line := range strings.Split(read(t, name), "\n") {
			for _, pattern := range forbidden {
				found := pattern.FindString(line)
				if strings.Contains(found, ".example") || strings.Contains(found, "_test.") {
					continue
				}
				assert.Empty(t, found, "%s:%d", name, number+1)
			}
		}
	}
}

var componentKinds = []string{"receiver", "processor", "connector", "exporter", "extension"}

// componentFolders returns the folders of our components: kind/name, where a factory.go lies.
func componentFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, name := range files(t) {
		parts := strings.Split(name, "/")
		if len(parts) == 3 && slices.Contains(componentKinds, parts[0]) && parts[2] == "factory.go" {
			folders = append(folders, path.Dir(name))
		}
	}
	return folders
}

// exportedNames returns the exported top-level names of a file; methods belong to their type.
func exportedNames(file *ast.File) []string {
	var names []string
	add := func(ident *ast.Ident) {
		if ident.IsExported() {
			names = append(names, ident.Name)
		}
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, ident := range s.Names {
						add(ident)
					}
				}
			}
		}
	}
	return names
}

func parse(t *testing.T, name string, mode parser.Mode) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), mode)
	require.NoError(t, err)
	return file
}
