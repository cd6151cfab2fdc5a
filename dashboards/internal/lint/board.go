package lint

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Board is a dashboard as far as the rules look at it.
type Board struct {
	File          string `json:"-"`
	UID           string `json:"uid"`
	ID            *int   `json:"id"`
	Title         string
	Description   string
	Tags          []string
	Editable      *bool
	Version       int
	SchemaVersion int
	Inputs        json.RawMessage `json:"__inputs"`
	Panels        []Panel
	Links         []Link
	Templating    struct{ List []Variable }
	Annotations   struct{ List []Annotation }
}

// Panel is a panel or a row. Panels of a closed row are inside of it.
type Panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Datasource  Datasource
	GridPos     Grid
	Collapsed   bool
	Panels      []Panel
	Targets     []Target
	FieldConfig struct {
		Defaults  Field
		Overrides []struct {
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
}

// Grid is a panel's place, in columns of 24 and in lines.
type Grid struct{ X, Y, W, H int }

// Field is what holds for all values of a panel.
type Field struct {
	Unit, NoValue string
	Links         []Link
	Mappings      []struct{ Type string }
}

// Datasource refers to a data source.
type Datasource struct{ Type, UID string }

// Target is a query.
type Target struct {
	Datasource Datasource
	RefID      string
	RawSQL     string `json:"rawSql"`
	Format     int
}

// Link leads to other dashboards: by tags, or by its address.
type Link struct {
	Title, Type, URL string
	Tags             []string
}

// Variable is a variable of the dashboard.
type Variable struct {
	Name, Type, Label string
	Datasource        Datasource
	Query             json.RawMessage
	Definition        string
	Refresh           int
	IncludeAll        bool
	AllValue          string
}

// Annotation marks moments.
type Annotation struct {
	Name       string
	Datasource Datasource
	Target     *Target
}

// Parse reads a dashboard.
func Parse(file string, text []byte) (*Board, error) {
	b := &Board{File: file}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// Shown are all panels that show something, those of closed rows too.
func (b *Board) Shown() []Panel {
	var all []Panel
	for _, p := range b.Panels {
		if p.Type != "row" {
			all = append(all, p)
		}
		all = append(all, p.Panels...)
	}
	return all
}

// Find returns the panel of that type and title, nil without one.
func (b *Board) Find(panelType, title string) *Panel {
	for _, p := range b.Shown() {
		if p.Type == panelType && p.Title == title {
			return &p
		}
	}
	return nil
}

// Statement is a query with the place where it stands.
type Statement struct{ Where, SQL string }

// Statements are the queries of panels, variables and annotations.
func (b *Board) Statements() []Statement {
	var all []Statement
	for _, p := range b.Shown() {
		for _, t := range p.Targets {
			all = append(all, Statement{fmt.Sprintf("panel %q", p.Title), t.RawSQL})
		}
	}
	for _, v := range b.Templating.List {
		if v.Type == "query" {
			all = append(all, Statement{fmt.Sprintf("variable %q", v.Name), v.sql()})
		}
	}
	for _, a := range b.Annotations.List {
		if a.Target != nil {
			all = append(all, Statement{fmt.Sprintf("annotation %q", a.Name), a.Target.RawSQL})
		}
	}
	return all
}

func (v Variable) sql() string {
	var query struct {
		RawSQL string `json:"rawSql"`
	}
	_ = json.Unmarshal(v.Query, &query) // not an object: there is no SQL, which a rule says
	return query.RawSQL
}

// findings collects what is wrong with one dashboard.
type findings struct {
	board *Board
	texts []string
}

func (f *findings) add(where, format string, args ...any) {
	f.texts = append(f.texts, strings.TrimSpace(f.board.File+": "+where+": "+fmt.Sprintf(format, args...)))
}
